"""What a page of a built app says is read by its marks, however the page is written."""

from burnish.apps.judging.page_reader import read_page

LIST = """<!doctype html><html><head><title>no text</title></head><body>
<form action="/tool"><input name=q value=""><button>Search</button></form>
<table><tr data-row=3><td data-field=name><b>Saw</b> &amp; axe</td><td data-field="pieces">4</td>
<td><a data-edit href="/tool/3/edit">Edit</a><form method=post action="/tool/3/do/take" data-action=take></form></td>
</tr><tr data-row="4"><td data-field="name">Rake</td><td><form method="post" action="/tool/4/delete" data-delete>
<input type=hidden name=csrf value=x></form></td></tr></table>
<section data-children="loan"><table><tr data-row="9"><td data-field="starts">2031-01-01</td></tr></table></section>
<script>document.write("<tr data-row=5>")</script></body></html>"""
FORM = """<form method="post" action="/tool"><input type="hidden" name="csrf" value="t&quot;">
<input name="name" value="Saw"><p class="error" id="error-name" role="alert">is there</p>
<p class="error" id="error-form" role="alert"></p><input type="checkbox" name="lent" value="yes" checked>
<input type="checkbox" name="whole" value="yes"><select name="state"><option value="a">A<option value="b" selected>B
</select><textarea name="note">
two
lines</textarea><input type="submit" name="go" value="Go"><input name="off" value="1" disabled></form>"""


def test_rows_are_read_with_what_may_be_done_to_them() -> None:
    rows = read_page(LIST).rows()
    assert list(rows) == ["3", "4"]
    assert rows["3"].values["name"] == "Saw & axe"
    assert (rows["3"].actions, rows["3"].can_edit, rows["3"].can_delete) == ({"take"}, True, False)
    assert (rows["4"].actions, rows["4"].can_edit, rows["4"].can_delete) == (frozenset(), False, True)


def test_rows_of_children_are_no_rows_of_the_page() -> None:
    page = read_page(LIST)
    assert page.rows("loan")["9"].values == {"starts": "2031-01-01"}
    assert page.rows("tool") == {}
    assert "no text" not in page.text
    assert "document" not in page.text


def test_a_form_sends_what_stands_in_it() -> None:
    form = read_page(FORM).find_form("/tool")
    assert form is not None
    assert form.values == {"csrf": 't"', "name": "Saw", "lent": "yes", "state": "b", "note": "two\nlines"}
    assert (form.boxes, form.options) == ({"lent", "whole"}, {"state": ("a", "b")})


def test_only_forms_that_post_are_found_by_where_they_lead() -> None:
    page = read_page(LIST)
    assert page.find_form("/tool") is None
    found = page.find_form("", data_action="take")
    assert found is not None
    assert found.place == 1


def test_errors_are_those_that_say_something() -> None:
    assert read_page(FORM).errors == {"name": "is there"}


def test_a_page_that_is_no_html_is_read_all_the_same() -> None:
    page = read_page("</td><tr data-row='1'><<form method=post action='/x'><input name=a")
    assert list(page.rows()) == ["1"]
