"""Stories of code that needs packages: asked for, imported without asking, required by a project, and shown to others.

The index is a folder with tiny wheels under well-known names; one story has the real thing.
"""

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from burnish import Limits, ScriptedModel, Store, check, explain, fix, resume, verify, write
from burnish.cli.screen import Screen
from burnish.errors import SetupProblem
from burnish.events import Asked, PackagesAdded, TestsRan
from burnish.report.run_report import render_report
from burnish.runs import Run
from tests.checks.dependencies.services import serving
from tests.packages.conftest import only
from tests.packages.shelf import Shelf
from tests.sandbox.kinds import ISOLATED, must_be_there
from tests.support import ROOT, block, burnish

TASK = "a function pairs(xs) that lists neighbours, e.g. pairs([1, 2, 3]) == [(1, 2), (2, 3)]"
CODE = "from more_itertools import windows\n\n\ndef pairs(xs):\n    return list(windows(xs))"
OWN = block("assert pairs([]) == []\nassert pairs([1]) == []\nassert pairs([1, 1]) == [(1, 1)]")
SCRIPT = {"": [block(CODE)], "tests": [OWN], "assume": ["none"]}
WINDOWS = "def windows(xs):\n    return zip(xs, xs[1:])\n"


@pytest.fixture(scope="module", autouse=True)
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    """An index with one package, and a cache for all stories: a layer is made once."""
    folder = tmp_path_factory.mktemp("index")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BURNISH_CACHE", str(folder / "cache"))
        patch.delenv("VIRTUAL_ENV", raising=False)
        made = only(folder / "shelf", patch)
        made.wheel("more-itertools", "10.1", files={"more_itertools/__init__.py": WINDOWS})
        made.wheel("click", "8.0")
        made.wheel("quincetools", "1.0")
        yield made


def written(store: Store, out: Path, **more: object) -> Run:
    return write(TASK, ScriptedModel(SCRIPT), store=store, out=out, fast=True, **more)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_what_is_asked_for_is_prepared_told_to_the_model_reported_and_verified(tmp_path: Path, store: Store) -> None:
    run = written(store, tmp_path / "out", packages=["more-itertools"])
    assert run.verdict == "plausible", run.why
    added = run.all(PackagesAdded)
    assert [(one.asked, one.packages, one.why) for one in added] == [
        (("more-itertools",), (("more-itertools", "10.1"),), "")
    ]
    assert run.seconds >= added[0].seconds > 0, "preparing them counts"
    draft = next(ask for ask in run.all(Asked) if ask.purpose == "draft")
    assert "These packages are installed: more-itertools." in draft.messages[1].content
    assert run.started.settings["packages"] == ["more-itertools"]
    told = (tmp_path / "out" / "report.md").read_text()
    assert "## Packages" in told
    assert "| more-itertools | 10.1 | yes |" in told
    assert "Audit: " in told
    evidence = json.loads((tmp_path / "out" / "evidence.json").read_text())
    (package,) = evidence["packages"]
    assert (package["name"], package["version"], package["asked"]) == ("more-itertools", "10.1", True)
    assert added[0].wheels == ((package["wheel"], package["sha256"]),)
    assert package["wheel"] == "more_itertools-10.1-py3-none-any.whl"
    assert verify(tmp_path / "out", fast=True, store=store).ending == "holds"
    assert goes_on(run, store)


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize(("version", "sound"), [("2.11.2", False), ("3.1.6", True)])
def test_the_layer_is_audited_with_what_nobody_asked_for_by_name(
    version: str, sound: bool, shelf: Shelf, tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The real pip-audit, as its own variables tell it to ask a service on this machine."""
    shelf.wheel("jinja2", version)
    shelf.wheel("flask", version, needs=[f"jinja2=={version}"])
    with serving() as services:
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        monkeypatch.setenv("PIP_AUDIT_VULNERABILITY_SERVICE", "osv")
        monkeypatch.setenv("PIP_AUDIT_OSV_URL", services.osv)
        run = written(store, tmp_path / "out", packages=["more-itertools", f"flask=={version}"])
        assert {f"flask=={version}", f"jinja2=={version}"} <= set(services.asked)
    assert run.verdict == "plausible", "the tests decide; the audit is told beside them"
    told = (tmp_path / "out" / "report.md").read_text()
    assert ("jinja2 2.11.2 has CVE-2020-28493, fixed in 2.11.3" in told) is not sound
    assert f"| jinja2 | {version} |" in told


@pytest.mark.slow
def test_going_on_from_a_run_with_one_more_package_keeps_those_it_had(tmp_path: Path, store: Store) -> None:
    first = written(store, tmp_path / "out", packages=["more-itertools"])
    model = ScriptedModel(SCRIPT)
    further = write("of three", model, store=store, fast=True, from_run=first.id, packages=["click"])
    assert further.all(PackagesAdded)[0].asked == ("click", "more-itertools")
    assert further.started.settings["packages"] == ["click", "more-itertools"]


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_evidence_that_names_a_stranger_is_not_run_again_until_you_allow_it(tmp_path: Path, store: Store) -> None:
    own = {**SCRIPT, "": [block("def pairs(xs):\n    return list(zip(xs, xs[1:]))")]}
    more = {"packages": ["quincetools"], "allow_packages": ["quincetools"]}
    run = write(TASK, ScriptedModel(own), store=store, out=tmp_path / "out", fast=True, **more)  # type: ignore[arg-type]
    assert run.verdict == "plausible", run.why
    refused = verify(tmp_path / "out", store=store)
    assert refused.ending == "does not hold"
    (tests,) = [claim for claim in refused.claims if claim.what == "tests"]
    assert tests.answer == "not_tried"
    assert tests.why.endswith("--allow-package quincetools")
    assert verify(tmp_path / "out", fast=True, store=store, allow_packages=["quincetools"]).ending == "holds"


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_repair_that_goes_on_may_still_have_what_was_allowed(tmp_path: Path, store: Store) -> None:
    (tmp_path / "requirements.txt").write_text("click\n")
    (tmp_path / "near.py").write_text('def pairs(xs):\n    """\n    >>> pairs([1, 2])\n    [(1, 2)]\n    """\n')
    code = "import quincetools\n\n\ndef pairs(xs):\n    return list(zip(xs, xs[1:]))"
    model = {**SCRIPT, "": [block(code)]}
    run = fix(tmp_path / "near.py", ScriptedModel(model), store=store, allow_packages=["quincetools"])
    assert run.verdict == "plausible", run.why
    cut(run, store, '"why":"version')
    assert [one.asked for one in store.open(run.id).all(PackagesAdded)] == [("click",)]
    again = resume(run.id, ScriptedModel(model), store=store)
    assert again.verdict == "plausible", again.why
    assert [name for name, _ in again.all(PackagesAdded)[-1].packages] == ["click", "quincetools"]


def goes_on(run: Run, store: Store) -> bool:
    """A run that was killed before its verdict is taken up with the versions of its record, and asks nobody again."""
    cut(run, store, '"kind":"tests_ran"')
    again = resume(run.id, ScriptedModel([]), store=store)
    return again.verdict == "plausible" and len(again.all(PackagesAdded)) == 1 and bool(again.all(TestsRan))


def cut(run: Run, store: Store, before: str) -> None:
    """Let the record end before the first line that holds this."""
    file = store.runs / run.id / "events.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    place = next(place for place, line in enumerate(lines) if before in line)
    file.write_text("".join(lines[:place]))


@pytest.mark.slow
def test_a_package_that_only_the_code_asks_for_is_added_without_a_question(tmp_path: Path, store: Store) -> None:
    console = Console(file=io.StringIO(), width=200)
    run = written(store, tmp_path / "out", watch=Screen(console=console).watch)
    assert run.verdict == "plausible", run.why
    assert "packages" not in run.started.settings
    assert len([ask for ask in run.all(Asked) if ask.purpose == "draft"]) == 1
    assert "packages   more-itertools 10.1 added: version 1 imports it" in console.file.getvalue()  # type: ignore[attr-defined]
    assert "Code may import more-itertools 10.1, because version 1 imports it." in explain(run) + render_report(run)


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_code_may_go_online_with_a_package_that_the_user_named_and_with_none_that_it_chose(
    shelf: Shelf, tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.wheel("requests", "2.0", files={"requests/__init__.py": WINDOWS})
    model = {**SCRIPT, "": [block(CODE.replace("more_itertools", "requests"))]}

    def security(name: str, **more: object) -> str:
        run = write(TASK, ScriptedModel(model), store=store, out=tmp_path / name, fast=True, **more)  # type: ignore[arg-type]
        assert run.verdict == "plausible", run.why
        assert verify(tmp_path / name, store=store).ending == "holds"
        return next(item.verdict for item in run.evidence if item.check == "security")

    assert security("chosen") == "failed"
    assert security("further", from_run="last") == "failed", "going on from it is not asking for it"
    assert security("named", packages=["requests"]) == "passed"


@pytest.mark.slow
def test_names_that_nobody_knows_are_refused_before_any_work(work_folder: Path, store: Store) -> None:
    done = burnish("write", TASK, "--with", "numpi", "--model", "scripted:demo", cwd=work_folder)
    assert done.returncode == 2
    assert "Did you mean numpy?" in done.stderr
    with pytest.raises(SetupProblem, match="--allow-package medlartools"):
        written(store, work_folder / "out", packages=["medlartools"])
    assert not list(work_folder.iterdir())


@pytest.mark.slow
def test_what_cannot_be_had_ends_nothing_but_the_version(store: Store, tmp_path: Path) -> None:
    lacking = block("import pandas\n\n\ndef pairs(xs):\n    return []")
    model = ScriptedModel({**SCRIPT, "draft": [lacking]})
    run = write(TASK, model, store=store, out=tmp_path / "out", fast=True, limits=Limits(rounds=2))
    assert run.verdict == "plausible", "a later version does without it"
    first = run.versions[0].graded
    assert first
    assert "pandas cannot be had here" in first.problem


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_project_without_an_environment_has_what_it_requires(tmp_path: Path, store: Store) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "requirements.txt").write_text("more-itertools>=10\n")
    broken = CODE.replace("list(windows(xs))", "list(windows(xs))[1:]")
    (project / "near.py").write_text(f"{broken}\n")
    (project / "test_near.py").write_text(
        "from near import pairs\n\n\ndef test_it():\n    assert pairs([1, 2, 3]) == [(1, 2), (2, 3)]\n"
    )
    assert not check(project / "near.py", only=["tests"]).passed
    run = fix(project / "near.py", ScriptedModel(SCRIPT), apply=True, store=store)
    assert run.verdict == "plausible", run.why
    assert [one.packages for one in run.all(PackagesAdded)] == [(("more-itertools", "10.1"),)]
    checked = check(project / "near.py", only=["tests"])
    assert checked.passed, checked.evidence
    (project / "requirements.txt").write_text("click\n")
    (project / "near.py").write_text("import click\n\n\ndef pairs(xs):\n    return click.VERSION\n")
    grown = fix(project / "near.py", ScriptedModel(SCRIPT), store=store)
    assert grown.verdict == "plausible", grown.why
    assert [name for name, _ in grown.all(PackagesAdded)[-1].packages] == ["click", "more-itertools"]
    (project / "near.py").write_text(f"{CODE}\n")
    (project / "requirements.txt").unlink()
    assert not check(project / "near.py", only=["tests"]).passed
    assert check(project / "near.py", only=["tests"], packages=["more-itertools"]).passed
    with pytest.raises(SetupProblem, match="an interpreter of its own"):
        check(project / "near.py", only=["tests"], packages=["more-itertools"], python=ROOT / ".venv")


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("kind", ISOLATED)
def test_numpy_from_the_real_index_is_used_and_measured(kind: str, tmp_path: Path, store: Store) -> None:
    code = "import numpy as np\n\n\ndef means(rows):\n    return np.asarray(rows, dtype=float).mean(axis=0).tolist()"
    with pytest.MonkeyPatch.context() as patch:
        for name in ("PIP_CONFIG_FILE", "PIP_NO_INDEX", "PIP_FIND_LINKS", "BURNISH_CACHE"):
            patch.delenv(name, raising=False)
        try:
            run = write(
                "a function means(rows) with the mean of each column, e.g. means([[1, 2], [3, 4]]) == [2.0, 3.0]",
                ScriptedModel(
                    {"": [block(code)], "tests": [block("assert means([[1]]) == [1.0]")], "assume": ["none"]}
                ),
                packages=["numpy"],
                sandbox=must_be_there(kind),
                out=tmp_path / "out",
                store=store,
            )
        except SetupProblem as problem:
            pytest.skip(f"there is no package index here: {problem}")
    assert run.verdict == "plausible", run.why
    by_name = {item.check: item.verdict for item in run.evidence}
    assert {by_name[name] for name in ("tests", "coverage", "performance")} == {"passed"}
