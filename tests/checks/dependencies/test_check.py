"""The dependencies check, with the real pip-audit against services on this machine: what is known is told, the rest
is "not run", and a finding outweighs what is not known."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from burnish import check, config
from burnish.checks.dependencies import DependenciesCheck
from burnish.checks.project import Project, Settings
from burnish.errors import CheckError, SetupProblem
from burnish.events import Evidence
from tests.checks.dependencies.conftest import Make, Tools, install
from tests.checks.dependencies.services import Babbling, Broken, Services, serving
from tests.snapshots import assert_snapshot

Judge = Callable[[Project], Evidence]
NOBODY = "http://127.0.0.1:9"


@pytest.fixture
def judge(services: Services) -> Judge:
    return lambda project: DependenciesCheck(services.osv, services.index).judge(project, Tools(project))


def findings(evidence: Evidence) -> list[dict[str, Any]]:
    return cast(list[dict[str, Any]], evidence.details["findings"])


def rules(evidence: Evidence) -> list[str]:
    return [one["rule"] for one in findings(evidence)]


def test_the_standard_library_alone_passes_and_asks_nobody(make: Make) -> None:
    project = make({"app.py": "import json, os.path\nfrom . import sibling\nimport helper\n", "helper.py": ""})
    evidence = DependenciesCheck(NOBODY, NOBODY).judge(project, Tools(project))
    assert (evidence.verdict, evidence.details["packages"]) == ("passed", [])
    assert_snapshot(evidence.why, "dependencies/standard library")


@pytest.mark.slow
def test_sound_packages_pass(make: Make, environment: Path, judge: Judge) -> None:
    install(environment, "requests", "2.32.0", "requests/__init__.py")
    project = make({"app.py": "import requests\n", "requirements.txt": "requests>=2.20\npyyaml==6.0.1\n"})
    evidence = judge(project)
    assert (evidence.verdict, evidence.figure) == ("passed", "2 packages, 0 with advisories")
    rows = evidence.details["packages"]
    assert [(row["name"], row["version"], row["exists"], row["near"]) for row in rows] == [  # type: ignore[attr-defined]
        ("pyyaml", "6.0.1", True, ""),
        ("requests", "2.32.0", True, ""),
    ]
    json.dumps(evidence.details)


@pytest.mark.slow
def test_an_installed_version_with_an_advisory_fails(make: Make, environment: Path, judge: Judge) -> None:
    install(environment, "requests", "2.19.0", "requests/__init__.py")
    evidence = judge(make({"app.py": "def f():\n    import requests.sessions\n"}))
    assert (evidence.verdict, evidence.figure) == ("failed", "1 package, 1 with advisories")
    assert_snapshot(evidence.why, "dependencies/advisory")
    (finding,) = findings(evidence)
    assert (finding["file"], finding["line"], finding["rule"]) == ("app.py", 2, "PYSEC-2018-28")


@pytest.mark.slow
def test_a_pinned_version_with_an_advisory_fails_though_a_sound_one_is_installed(
    make: Make, environment: Path, judge: Judge
) -> None:
    install(environment, "jinja2", "3.1.6", "jinja2/__init__.py")
    evidence = judge(make({"app.py": "import jinja2\n", "requirements.txt": "# pins\nJinja2==2.11.2\n"}))
    assert evidence.verdict == "failed"
    (finding,) = findings(evidence)
    assert (finding["file"], finding["line"], finding["rule"]) == ("requirements.txt", 2, "PYSEC-2021-66")
    assert all(name in finding["what"] for name in ("jinja2", "2.11.2", "CVE-2020-28493", "2.11.3"))


@pytest.mark.slow
def test_a_near_miss_of_a_well_known_name_fails(make: Make, judge: Judge) -> None:
    evidence = judge(make({"requirements.txt": "reqeusts==1.0\n"}))
    assert evidence.verdict == "failed"
    assert rules(evidence) == ["near-miss"]
    assert [row["near"] for row in evidence.details["packages"]] == ["requests"]  # type: ignore[attr-defined]
    assert_snapshot(evidence.why, "dependencies/near miss")


def test_a_package_that_does_not_exist_fails(make: Make, judge: Judge) -> None:
    evidence = judge(make({"app.py": "import surely_invented_by_a_model\n"}))
    assert evidence.verdict == "failed"
    assert rules(evidence) == ["does-not-exist"]
    assert_snapshot(evidence.why, "dependencies/no such package")


@pytest.mark.slow
def test_a_package_that_is_two_days_old_fails(make: Make, judge: Judge) -> None:
    project = make({"requirements.txt": "fresh-thing==0.1\n"})
    evidence = judge(project)
    assert (evidence.verdict, rules(evidence)) == ("failed", ["newcomer"])
    assert_snapshot(evidence.why, "dependencies/newcomer")
    patient = project.model_copy(update={"settings": Settings(newest_days=1)})
    assert judge(patient).verdict == "passed"


def test_what_is_neither_installed_nor_pinned_is_not_run(make: Make, judge: Judge) -> None:
    evidence = judge(make({"requirements.txt": "humanize>=4\n"}))
    assert (evidence.verdict, len(evidence.details["not_known"])) == ("not_run", 1)  # type: ignore[arg-type]
    assert_snapshot(evidence.why, "dependencies/no version")


@pytest.mark.slow
def test_an_advisory_service_that_is_down_is_not_run(make: Make, services: Services) -> None:
    project = make({"requirements.txt": "requests==2.32.0\n"})
    evidence = DependenciesCheck(NOBODY, services.index).judge(project, Tools(project))
    assert evidence.verdict == "not_run"
    assert_snapshot(evidence.why, "dependencies/no advisory service")


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Broken, Babbling])
def test_services_that_answer_badly_are_not_run(make: Make, kind: type[Broken]) -> None:
    project = make({"requirements.txt": "requests==2.32.0\n"})
    with serving(kind) as trouble:
        evidence = DependenciesCheck(trouble.osv, trouble.index).judge(project, Tools(project))
    assert evidence.verdict == "not_run"
    assert len(evidence.details["not_known"]) == 2  # type: ignore[arg-type]


@pytest.mark.slow
def test_an_index_that_is_down_is_not_run_but_an_advisory_still_fails(make: Make, services: Services) -> None:
    check = DependenciesCheck(services.osv, NOBODY)
    sound, unsound = make({"requirements.txt": "requests==2.32.0\n"}), None
    evidence = check.judge(sound, Tools(sound))
    assert evidence.verdict == "not_run"
    assert_snapshot(evidence.why, "dependencies/no index")
    unsound = make({"requirements.txt": "urllib3==1.24.1\n"})
    evidence = check.judge(unsound, Tools(unsound))
    assert evidence.verdict == "failed"
    assert rules(evidence) == ["PYSEC-2019-133"]
    assert len(evidence.details["not_known"]) == 1  # type: ignore[arg-type]


class Missing(Tools):
    def tool(self, *argv: str, timeout_seconds: float = 120.0, cwd: Path | None = None) -> str:
        raise CheckError(f"{argv[0]} did not run: No module named {argv[0]}")


class Saying(Tools):
    """A pip-audit that leaves with success, whatever it says."""

    said = ""

    def tool(self, *argv: str, timeout_seconds: float = 120.0, cwd: Path | None = None) -> str:
        return self.said


def test_a_missing_tool_is_not_run(make: Make, services: Services) -> None:
    project = make({"requirements.txt": "requests==2.32.0\n"})
    evidence = DependenciesCheck(services.osv, services.index).judge(project, Missing(project))
    assert (evidence.verdict, "pip_audit" in evidence.why) == ("not_run", True)
    evidence = DependenciesCheck().judge(project, Missing(project))
    assert evidence.verdict == "not_run"


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("skipped", '{"dependencies": [{"name": "requests", "skip_reason": "not found"}]}'),
        ("silent", '{"dependencies": []}'),
        ("silent", '{"dependencies": [{"name": "requests", "version": "1.0", "vulns": []}]}'),
        ("without advisories", '{"dependencies": [{"name": "requests", "version": "2.32.0"}]}'),
        ("no list", '{"dependencies": [{"name": "requests", "version": "2.32.0", "vulns": "none"}]}'),
        ("without advisories", '{"dependencies": [{"name": "requests", "version": "2.32.0", "vulns": [{}]}]}'),
        ("without advisories", '{"dependencies": [{"name": "someone-else", "version": "1", "vulns": []}]}'),
        ("no list", "[]"),
        ("no list", "null"),
        ("no JSON", "Traceback (most recent call last)"),
        ("nothing", ""),
    ],
)
def test_a_report_without_an_answer_is_not_run_though_the_tool_left_with_success(
    make: Make, services: Services, kind: str, said: str
) -> None:
    project = make({"requirements.txt": "requests==2.32.0\n"})
    context = Saying(project)
    context.said = said
    evidence = DependenciesCheck(services.osv, services.index).judge(project, context)
    assert evidence.verdict == "not_run"
    assert_snapshot(evidence.why, f"dependencies/report: {kind}")


def test_a_source_that_does_not_parse_is_not_run(make: Make, judge: Judge) -> None:
    evidence = judge(make({"app.py": "import requests\ndef f(:\n"}))
    assert evidence.verdict == "not_run"
    assert_snapshot(evidence.why, "dependencies/source that does not parse")


def test_what_the_code_does_without_is_told_and_not_judged(make: Make, judge: Judge) -> None:
    evidence = judge(make({"app.py": "try:\n    import cPickle\nexcept ImportError:\n    import urllib2\n"}))
    assert (evidence.verdict, evidence.details["optional"]) == ("passed", ["cpickle", "urllib2"])


@pytest.mark.slow
def test_the_user_names_the_services(make: Make, services: Services) -> None:
    config.put("checks.advisories_url", services.osv)
    config.put("checks.index_url", services.index)
    project = make({"requirements.txt": "pyyaml==5.3.1\n"})
    assert DependenciesCheck().judge(project, Tools(project)).verdict == "failed"


@pytest.mark.parametrize("key", ["advisories_url", "index_url"])
def test_a_project_that_names_a_service_is_refused_and_nobody_is_asked(
    tmp_path: Path, services: Services, key: str
) -> None:
    (tmp_path / "app.py").write_text("import yaml\n")
    (tmp_path / "pyproject.toml").write_text(f"[tool.burnish]\n{key} = '{services.index}'\n")
    asked = len(services.asked)
    with pytest.raises(SetupProblem, match=f"burnish config set checks.{key}"):
        check(tmp_path / "app.py", only=["dependencies"])
    assert len(services.asked) == asked


@pytest.mark.slow
def test_an_index_that_a_project_brings_for_other_tools_is_not_asked(
    tmp_path: Path, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PIP_CONFIG_FILE", raising=False)
    monkeypatch.setenv("PIP_INDEX_URL", NOBODY)
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "")
    pip = f"[global]\nindex-url = {services.index}\n"
    uv = f"index-url = '{services.index}'\n"
    files = {
        "app.py": "import yaml\n",
        **dict.fromkeys(("pip.conf", ".venv/pip.conf", ".pip/pip.conf", ".config/pip/pip.conf", "setup.cfg"), pip),
        "uv.toml": uv,
        "pyproject.toml": f"[tool.uv]\n{uv}[[tool.poetry.source]]\nname = 'x'\nurl = '{services.index}'\n",
        "requirements.txt": f"--index-url {services.index}\npyyaml==5.3.1\n",
    }
    for name, text in files.items():
        (tmp_path / "shop" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "shop" / name).write_text(text)
    monkeypatch.chdir(tmp_path / "shop")
    asked = len(services.asked)
    check(tmp_path / "shop/app.py", only=["dependencies"], python=sys.executable)
    assert len(services.asked) == asked


def test_hostile_names_reach_no_file_no_service_and_no_markup(make: Make, services: Services, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("requests==2.19.0\n")
    lines = (
        "-r ../secret.txt",
        "--index-url http://evil.invalid/simple",
        "requests @ http://evil.invalid/requests.zip",
        "git+https://user:secret@evil.invalid/x.git",
        "-e git+https://evil.invalid/y.git#egg=urllib3",
        "\x1b[31m[bold]boo[/bold]<script>",
        "humanize; python_version < '3'",
    )
    project = make({"requirements.txt": "\n".join(lines)})
    asked = len(services.asked)
    evidence = DependenciesCheck(services.osv, services.index).judge(project, Tools(project))
    assert evidence.verdict == "not_run"
    assert services.asked[asked:] == ["humanize"]
    told = json.dumps(evidence.model_dump(mode="json"))
    assert "\\u001b" not in told
    assert "secret@" not in told
    assert len(evidence.details["not_known"]) == 5  # type: ignore[arg-type]
