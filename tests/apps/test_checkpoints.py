"""The four checkpoints: each passes a good app, and names what is wrong with a bad one."""

import time

import pytest

from burnish.apps.judging import checkpoints
from burnish.apps.judging.checkpoints import (
    CHECKPOINTS,
    find_circle,
    judge_app,
    judge_files,
    judge_performance,
    map_imports,
    play_at_random,
    run_contract_tests,
)
from burnish.errors import SetupProblem
from burnish.events import Evidence
from tests.apps.conftest import Serve
from tests.apps.hand_app import BLUEPRINT, make_hand_app, prepare_hand_layer

MODULES = {
    "app/main.py": "from app.tool import routes\nfrom app import loan",
    "app/tool/routes.py": "from app.database import Base\nimport app.tool.table",
    "app/tool/table.py": "",
    "app/loan/service.py": "from app import tool, database",
    "app/database.py": "import sqlite3",
}


def test_modules_and_their_links_are_read_from_imports() -> None:
    assert map_imports(MODULES) == {"database": set(), "loan": {"tool", "database"}, "tool": {"database"}}


def test_a_circle_between_modules_is_found() -> None:
    assert find_circle(map_imports(MODULES)) == []
    circled = {**MODULES, "app/database.py": "from app.loan.service import x"}
    assert find_circle(map_imports(circled)) == ["database", "loan", "database"]


@pytest.mark.slow
def test_all_four_pass_a_good_app_but_for_what_needs_a_browser() -> None:
    judged = judge_app(BLUEPRINT, make_hand_app(), prepare_hand_layer(), use_browser=False)
    assert [one.check for one in judged] == [*CHECKPOINTS]
    assert [one.verdict for one in judged] == ["passed", "passed", "passed", "not_run"]


@pytest.mark.browser
def test_in_a_browser_all_four_pass_a_good_app() -> None:
    assert {one.verdict for one in judge_app(BLUEPRINT, make_hand_app(), prepare_hand_layer())} == {"passed"}


@pytest.mark.slow
def test_without_a_browser_on_the_machine_integration_is_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def open_none(app: object) -> None:
        raise SetupProblem("no browser here")

    monkeypatch.setattr(checkpoints, "Browsing", open_none)
    judged = judge_app(BLUEPRINT, make_hand_app(), prepare_hand_layer())
    assert (judged[3].verdict, "no browser here" in judged[3].why) == ("not_run", True)


@pytest.mark.slow
def test_an_app_that_does_not_serve_has_failed_and_nothing_else_is_known_of_it() -> None:
    files = {**make_hand_app(), "app/main.py": "raise RuntimeError('broken')\n"}
    judged = judge_app(BLUEPRINT, files, prepare_hand_layer(), use_browser=False)
    verdicts = {one.check: one.verdict for one in judged}
    assert (verdicts["functional"], verdicts["performance"], verdicts["integration"]) == (
        "failed",
        "not_run",
        "not_run",
    )


@pytest.mark.slow
def test_what_is_wrong_in_files_fails_tests_and_quality() -> None:
    layer = prepare_hand_layer()
    bad = {
        "app/__init__.py": "",
        "app/one.py": "from app import two\nPASSWORD = 'hunter2hunter2'\n",
        "app/two.py": "from app import one\n",
        "tests/__init__.py": "",
        "tests/test_one.py": "TWO = 2\n\n\ndef test_one():\n    assert 1 == 2\n",
        "tests/test_two.py": "from tests.test_one import TWO\n\n\ndef test_two():\n    assert TWO == 2\n",
    }
    tests, quality = run_contract_tests(bad, layer, ["tests/test_one.py"]), judge_files(bad, layer)
    assert (tests.verdict, quality.verdict) == ("failed", "failed")
    assert {part["check"] for part in read_parts(quality) if part["verdict"] == "failed"} == {"security", "modules"}
    assert run_contract_tests(bad, layer, ["tests/test_two.py"]).verdict == "passed", "it may lean on another"
    assert run_contract_tests(bad, layer, []).verdict == "failed", "no tests are no proof"


@pytest.mark.slow
def test_judging_that_is_broken_off_ends_at_once_and_leaves_nothing() -> None:
    class Stop(Exception):
        pass

    def stop(what: str) -> None:
        if what.startswith("add"):
            began.append(time.monotonic())
            raise Stop

    began: list[float] = []
    with pytest.raises(Stop):
        judge_app(BLUEPRINT, make_hand_app(), prepare_hand_layer(), tell=stop, use_browser=False)
    assert time.monotonic() - began[0] < 5


def read_parts(evidence: Evidence) -> list[dict[str, str]]:
    parts = evidence.details["parts"]
    assert isinstance(parts, list)
    return parts


@pytest.mark.slow
@pytest.mark.parametrize(("holes", "verdict"), [((), "passed"), (("slow_list",), "failed")])
def test_queries_that_grow_with_the_rows_fail_performance(serve: Serve, holes: tuple[str, ...], verdict: str) -> None:
    assert judge_performance(BLUEPRINT, serve(*holes)).verdict == verdict


@pytest.mark.slow
def test_a_random_session_finds_an_app_that_breaks(serve: Serve) -> None:
    assert play_at_random(BLUEPRINT, serve(), actions=100) == ""
    assert "500" in play_at_random(BLUEPRINT, serve("huge_crash"), actions=400)
