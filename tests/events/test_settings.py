"""What a run was started with is read as one type, whoever wrote the record."""

from typing import Any

import pytest

from burnish import Run
from burnish.events import PackagesAdded, Resumed, RunSettings, RunStarted, read_event
from burnish.events.replay import Replay


def started(**settings: Any) -> RunStarted:
    return RunStarted(run_id="x", verb="write", prompt="p", model="m", burnish="0", settings=settings)


def test_settings_are_those_that_the_run_was_last_started_with() -> None:
    first = started(limits={"calls": 16}, sandbox="bubblewrap", packages=["numpy"], out="/tmp/x")
    run = Run([first, Resumed(answers=1, settings={"limits": {"calls": 32}}), Resumed(answers=2)])
    assert run.settings.limits == {"calls": 32}
    assert (run.settings.sandbox, run.settings.packages, run.settings.out) == ("bubblewrap", ("numpy",), "/tmp/x")


def test_a_record_that_says_nothing_has_the_defaults() -> None:
    settings = Run([started()]).settings
    assert (settings.checks, settings.afterwards, settings.fix, settings.ask) == (None, (), None, False)


@pytest.mark.parametrize("name", [*RunSettings.model_fields])
def test_what_is_not_what_it_should_be_counts_as_not_said(name: str) -> None:
    odd = object() if name in ("ask", "review") else 1.5 if name == "seed" else {1: 2, "x": object()}
    settings = RunSettings.merge({name: odd, "later_burnish": True})
    if name not in ("limits", "task", "plan", "fix", "strengthen", "page", "app"):
        assert getattr(settings, name) == RunSettings.model_fields[name].get_default(call_default_factory=True)


def test_only_what_was_said_goes_on_record_as_plain_data() -> None:
    settings = RunSettings(checks=("quality",), ask=True, fix={"file": "/a/b.py", "tests": ("t.py",)})  # type: ignore[arg-type]
    said = {"checks": ["quality"], "ask": True, "fix": {"file": "/a/b.py", "tests": ["t.py"]}}
    assert settings.to_json() == said
    assert RunSettings.merge(said) == settings


def test_the_version_that_a_package_came_for_is_read_from_the_words_of_an_older_record() -> None:
    old = PackagesAdded(asked=("numpy",), packages=(("numpy", "2.0"),), why="version 3 imports it")
    line = old.model_dump(exclude={"for_version"})
    event = read_event(PackagesAdded.model_validate(line).model_dump_json())
    assert isinstance(event, PackagesAdded)
    assert event.for_version == 3
    replay = Replay([event])
    assert (replay.packages(2), replay.packages(3), replay.packages(3)) == ([], [event], [])


def test_packages_that_the_user_asked_for_belong_to_no_version() -> None:
    assert PackagesAdded(asked=("numpy",), packages=(("numpy", "2.0"),)).for_version is None
