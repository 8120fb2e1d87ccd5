"""Words that somebody else wrote come out harmless and short."""

import json

import pytest

from burnish.text import escape_json, every, fence_code, html_line, one_line, plural, slug, strip_controls
from tests.support import ESC


@pytest.mark.parametrize("char", ["\x9b", "\u202e", "\x7f", "\x1b", "\u200f", "\U000e0001", "\ud800", "\ue000"])
@pytest.mark.parametrize("ascii_only", [False, True])
def test_json_for_a_terminal_says_the_same_without_a_character_that_it_obeys(char: str, ascii_only: bool) -> None:
    value = {f"a{char}": [f"é 世 {char}\n\\{char}", 1]}
    text = escape_json(json.dumps(value, indent=1, ensure_ascii=ascii_only))
    assert char not in text
    assert json.loads(text) == value


@pytest.mark.parametrize(
    ("wild", "tame"),
    [
        (f"{ESC}[31mred{ESC}[0m", "red"),
        (f"{ESC}[2J{ESC}[1;1Hgone", "gone"),
        (f"{ESC}]0;a title\x07text", "text"),
        (f"{ESC}]8;;https://example.org{ESC}\\link{ESC}]8;;{ESC}\\", "link"),
        (f"{ESC}]52;c;aGVsbG8=\x07", ""),
        (f"{ESC}Pq#0{ESC}\\after", "after"),
        (f"{ESC}cback", "back"),
        ("\x9b31mC1", "31mC1"),
        ("a\x00b\x07c\x08d\x7fe", "abcde"),
        ("left\u202eright\u2066", "leftright"),
        ("one\r\ntwo", "one\ntwo"),
        ("tab\tand\nline", "tab\tand\nline"),
        ("é, 漢字, 🙂", "é, 漢字, 🙂"),
        ("\udcff", ""),
    ],
)
def test_escapes_and_control_characters_are_taken_out(wild: str, tame: str) -> None:
    assert strip_controls(wild) == tame


def test_an_escape_that_never_ends_leaves_no_escape_byte() -> None:
    for wild in (ESC, f"a{ESC}", f"{ESC}[", f"{ESC}[12;", f"{ESC}]0;", f"{ESC}{ESC}{ESC}[31m", f"{ESC}[\x1b[31mx"):
        assert ESC not in strip_controls(wild)


def test_making_text_plain_twice_changes_nothing() -> None:
    wild = "".join(map(chr, range(0x300))) + "\u2028\ud800" + f"{ESC}]x"
    assert strip_controls(strip_controls(wild)) == strip_controls(wild)


def test_one_line_is_one_short_line() -> None:
    assert one_line("  a\n\n b\t c ") == "a b c"
    assert one_line("x" * 200, 10) == "x" * 9 + "…"
    assert len(one_line("word " * 100, 40)) <= 40


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Roman numerals!", "roman-numerals"),
        ("../../etc/passwd", "etc-passwd"),
        ("é à ü", "e-a-u"),
        ("漢字", "task"),
        ("", "task"),
        ("x" * 100, "x" * 32),
    ],
)
def test_a_slug_is_safe_as_the_name_of_a_folder(text: str, name: str) -> None:
    assert slug(text) == name


def test_a_slug_keeps_to_its_length() -> None:
    assert len(slug("some words that are many and long", 20)) <= 20


def test_nothing_inside_a_fence_can_close_it() -> None:
    inside = "```\nfree\n```` more"
    lines = fence_code(inside, "python").splitlines()
    assert lines[0] == "`````python"
    assert lines[-1] == "`````"
    assert not any(line.startswith("`````") for line in lines[1:-1])


def test_numbers_go_with_their_noun() -> None:
    assert [plural(number, "test") for number in (0, 1, 2)] == ["0 tests", "1 test", "2 tests"]
    assert [every(number, "test") for number in (1, 2)] == ["the one test", "all 2 tests"]


def test_a_line_for_a_page_is_short_and_means_nothing_in_html() -> None:
    assert html_line(f"<b>{ESC}[31m a\n&\"'") == "&lt;b&gt; a &amp;&quot;&#x27;"
    assert html_line(12) == "12"
    assert html_line("<" * 20, 5) == "&lt;" * 4 + "…"
