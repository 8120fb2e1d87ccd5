"""Fix: code with a fault is pasted, uploaded, or sent as a folder, and comes out repaired; what was sent stays."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from burnish.runs import Run
from tests.checks.shop import CART, TESTS, TOTAL
from tests.web.conftest import Served
from tests.web.test_uploads import make_odd_zip, make_zip

WRONG = "def total(prices):\n    result = 1\n    for price in prices:\n        result += price\n    return result\n"
SHOW = "def test_total():\n    assert total([1, 2]) == 3\n\n\ndef test_none():\n    assert total([]) == 0\n"
LIMITS = {"model": "scripted:demo", "minutes": "3"}
SENDS = {"code": WRONG, "tests": SHOW, **LIMITS}
FOLDER = {
    "work/shop/__init__.py": "",
    "work/shop/money.py": "def rounded(x):\n    return round(x, 2)\n",
    "work/shop/cart.py": CART,
    "work/tests/test_cart.py": TESTS,
}


def send(client: httpx.Client, form: dict[str, str], **files: tuple[str, bytes]) -> httpx.Response:
    """As a browser sends it: a file that was not chosen has no name."""
    none = {name: ("", b"", "application/octet-stream") for name in ("file", "tests_file") if name not in files}
    return client.post("/fix", data=LIMITS | form, files=none | files)  # type: ignore[arg-type]


def wait_for(served: Served, sent: httpx.Response) -> Run:
    """The run that was begun, once it is over."""
    assert sent.status_code == 303, sent.text
    run_id = sent.headers["location"].removeprefix("/runs/")
    active = served.app.state.runs.find(run_id)
    ends = time.monotonic() + 120
    while active and not active.is_over and time.monotonic() < ends:
        if active.person.wish:  # nobody is there to say what else would be right
            active.person.leave()
        time.sleep(0.05)
    assert not active or not active.problem, active.problem
    return served.store.open(run_id)


def uploads(served: Served) -> dict[Path, bytes]:
    """All that was kept of what was sent."""
    found = (served.store.folder / "uploads").rglob("*")
    return {path: path.read_bytes() for path in found if path.is_file()}


@pytest.mark.slow
def test_pasted_code_with_a_failing_test_is_repaired(served: Served, client: httpx.Client) -> None:
    run = wait_for(served, send(client, SENDS))
    assert run.verdict in ("proven", "plausible"), run.why
    assert run.started.verb == "fix"
    assert "result = 0" in run.code
    assert next(text for path, text in uploads(served).items() if path.name == "solution.py").decode() == WRONG


@pytest.mark.slow
def test_an_uploaded_file_and_its_tests_are_repaired(served: Served, client: httpx.Client) -> None:
    tests = ("test_it.py", f"from cart import total\n\n\n{SHOW}".encode())
    run = wait_for(served, send(client, {}, file=("cart (1).py", WRONG.encode()), tests_file=tests))
    assert run.verdict in ("proven", "plausible"), run.why
    assert run.settings.fix
    assert run.settings.fix.name == "cart.py"


@pytest.mark.slow
def test_words_alone_are_enough_and_so_are_lines_in_the_box_for_tests(served: Served, client: httpx.Client) -> None:
    run = wait_for(
        served,
        send(client, {"code": WRONG, "words": "total gives the sum, e.g. total([1, 2]) == 3 and total([]) == 0"}),
    )
    assert run.verdict in ("proven", "plausible"), run.why
    run = wait_for(served, send(client, {"code": WRONG, "tests": "total([1, 2]) == 3\ntotal([]) == 0"}))
    assert run.verdict in ("proven", "plausible"), run.why


@pytest.mark.slow
@pytest.mark.parametrize("place", ["", TOTAL, "shop/cart.py"])
def test_in_a_folder_the_failing_test_points_at_the_fault(place: str, served: Served, client: httpx.Client) -> None:
    run = wait_for(served, send(client, {"place": place}, file=("shop.zip", make_zip(FOLDER))))
    assert run.verdict in ("proven", "plausible"), run.why
    assert run.settings.fix
    assert run.settings.fix.name == "shop/cart.py"
    assert run.code not in ("", CART)
    kept = {path.name: text.decode() for path, text in uploads(served).items()}
    assert kept["cart.py"] == CART, "what was sent stays as it is"


@pytest.mark.slow
def test_a_project_that_writes_elsewhere_and_calls_out_changes_nothing(
    served: Served, client: httpx.Client, mine: Path
) -> None:
    before = mine.read_text()
    attack = (
        f"import pathlib, socket\n\n\ndef test_attack():\n"
        f"    for act in (lambda: pathlib.Path({str(mine)!r}).write_text('gone'),\n"
        f"                lambda: pathlib.Path('cart.py').write_text('gone'),\n"
        f"                lambda: socket.create_connection(('127.0.0.1', {served.access.port}), 2)):\n"
        f"        try:\n            act()\n        except OSError:\n            continue\n"
        f"        assert act is None\n"
    )
    files = {"cart.py": WRONG, "test_cart.py": f"from cart import total\n\n\n{SHOW}", "test_attack.py": attack}
    files["conftest.py"] = attack.replace("def test_attack", "def pytest_configure")
    run = wait_for(served, send(client, {"place": "test_cart.py"}, file=("shop.zip", make_zip(files))))
    assert run.verdict in ("proven", "plausible"), run.why
    assert mine.read_text() == before
    kept = {path.name: text.decode() for path, text in uploads(served).items()}
    assert kept["cart.py"] == WRONG


REFUSED: dict[str, tuple[dict[str, str], dict[str, tuple[str, bytes]], str]] = {
    "nothing": ({}, {}, "Paste your code"),
    "both": ({"code": WRONG}, {"file": ("a.py", b"x = 1")}, "one of the two"),
    "nothing said": ({"code": WRONG}, {}, "What is wrong with it"),
    "no text": ({"words": "x"}, {"file": ("a.py", b"\xff\xfe")}, "not Python as text"),
    "a picture": ({"words": "x"}, {"file": ("a.png", b"\x89PNG")}, "is no zip"),
    "a name that climbs": ({"words": "x"}, {"file": ("..%2Fa.py".replace("%2F", "\\"), b"x = 1")}, "is no name"),
    "tests twice": (SENDS, {"tests_file": ("test_x.py", SHOW.encode())}, "Send one of them"),
    "no tests": ({"code": WRONG}, {"tests_file": ("test_x.py", b"x = 1\n")}, "There is no test in"),
    "broken tests": ({"code": WRONG, "tests": "def test_x(:\n    pass"}, {}, "not valid Python (line 1)"),
    "a link in the zip": ({}, {"file": ("a.zip", make_odd_zip("l", 0o120777, "/etc"))}, "a link or a device"),
    "a slip in the zip": ({}, {"file": ("a.zip", make_zip({"../a.py": "x"}))}, "leads out of the folder"),
    "a place outside": ({"place": "../../x"}, {"file": ("a.zip", make_zip(FOLDER))}, "There is no"),
    "a place from the top": ({"place": "/etc/passwd"}, {"file": ("a.zip", make_zip(FOLDER))}, "There is no"),
    "code and a folder": ({"code": WRONG}, {"file": ("a.zip", make_zip(FOLDER))}, "Send one of them"),
    "tests and a folder": ({"tests": SHOW}, {"file": ("a.zip", make_zip(FOLDER))}, "leave the box for tests empty"),
    "no amount": (SENDS | {"dollars": "much"}, {}, "no amount of money"),
    "too much code": (SENDS | {"code": "x = 1\n" * 100_000}, {}, "longer than"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_repaired_is_refused_in_a_sentence_and_not_kept(
    name: str, served: Served, client: httpx.Client
) -> None:
    form, files, why = REFUSED[name]
    sent = send(client, form, **files)
    assert sent.status_code == 400
    assert why in sent.text.replace("&#39;", "'")
    assert uploads(served) == {}
    assert not served.app.state.runs.at_work


def test_a_file_that_is_too_large_is_refused(client: httpx.Client) -> None:
    sent = send(client, {"words": "x"}, file=("a.py", b"#" * (25 << 20)))
    assert sent.status_code == 400
    assert "24 MB" in sent.text


def test_the_form_stays_as_it_is_where_something_is_to_be_put_right(client: httpx.Client) -> None:
    sent = client.post("/fix", data=LIMITS, headers={"HX-Request": "true"})
    assert sent.status_code == 400
    assert "<html" not in sent.text
    assert 'role="alert"' in sent.text


@pytest.mark.slow
def test_a_stop_while_tests_look_for_the_fault_ends_it_at_once(served: Served, client: httpx.Client) -> None:
    slow = {**FOLDER, "work/tests/test_slow.py": "import time\n\n\ndef test_slow():\n    time.sleep(60)\n"}
    sent = send(client, {}, file=("pages.zip", make_zip(slow)))
    active = served.app.state.runs.find(sent.headers["location"].removeprefix("/runs/"))
    time.sleep(3)
    began = time.monotonic()
    client.post(f"/runs/{active.id}/stop")
    active.handle.wait()
    assert time.monotonic() - began < 2
    assert served.store.open(active.id).state == "interrupted"


@pytest.mark.browser
def test_code_and_tests_are_dropped_on_the_page_and_come_out_repaired(
    open_page: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "cart.py").write_text(WRONG)
    (tmp_path / "test_cart.py").write_text(f"from cart import total\n\n\n{SHOW}")
    page = open_page("/fix")
    page.select_option("#model", "scripted:demo")
    page.click("button.primary")
    page.wait_for_selector("#problem .problem")
    page.set_input_files("#file", tmp_path / "cart.py")
    page.click("summary >> nth=0")
    page.set_input_files("#tests_file", tmp_path / "test_cart.py")
    page.click("button.primary")
    page.wait_for_selector("#run[data-state=done] .verdict", timeout=90_000)
    assert "result = 0" in page.content()
