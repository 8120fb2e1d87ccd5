"""A team that shares its tasks: everybody has an account, and sees what the others have added and done."""

from burnish.evals.app_cases.app_user import LOG_IN, REGISTER, Thing, Wish, require
from burnish.evals.app_cases.case import AppCase, Scene
from burnish.evals.app_cases.everywhere import ACCOUNTS, LISTING, USING
from burnish.evals.app_cases.finishing import FINISHING, require_done_for, set_done

TASK = Thing(("tasks", "all tasks", "task list", "task"), Wish(("title", "name", "task", "what", "summary")))


def keep_from_strangers(scene: Scene) -> None:
    """Who is not logged in sees none of it, and is asked to log in."""
    person, title = scene.call_member(), scene.make_title()
    person.add(TASK, title)
    person.open_row(TASK, title)
    path, stranger = person.visitor.path, scene.call_stranger()
    stranger.goto(path)
    require(title not in stranger.page.text, "a stranger sees what the team has to do")
    require(not stranger.lists(TASK, title), "a stranger sees the list of the team")
    require(stranger.offers(*LOG_IN, *REGISTER), "a stranger is not asked to log in")


def share_with_team(scene: Scene) -> None:
    """A second member sees what the first has added, and the first what the second has."""
    first, second, titles = scene.call_member(0), scene.call_member(1), (scene.make_title(), scene.make_title())
    first.add(TASK, titles[0])
    second.add(TASK, titles[1])
    require(second.lists(TASK, titles[0]), "the second member does not see what the first has added")
    require(first.lists(TASK, titles[1]), "the first member does not see what the second has added")


def finish_for_team(scene: Scene) -> None:
    """What a second member marks as done is done for the first."""
    first, second, title = scene.call_member(0), scene.call_member(1), scene.make_title()
    first.add(TASK, title)
    set_done(second, TASK, title, True)
    require_done_for(first, TASK, title, "what a team mate has done is still open")


CASE = AppCase(
    "tasks",
    "A task list for a team, with login.",
    TASK,
    (*ACCOUNTS, *LISTING, *FINISHING, keep_from_strangers, share_with_team, finish_for_team, *USING),
)
