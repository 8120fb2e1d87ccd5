"""A list of what there is to do, for whoever opens it; whether with an account is left to the app."""

from burnish.evals.app_cases.app_user import Thing, Wish, require
from burnish.evals.app_cases.case import AppCase, Scene
from burnish.evals.app_cases.everywhere import LISTING, USING
from burnish.evals.app_cases.finishing import FINISHING, is_in, require_done_for, set_done

TODO = Thing(
    ("to-dos", "todos", "to-do list", "to-do", "todo", "to do", "tasks", "items", "list"),
    Wish(("title", "name", "what", "to-do", "todo", "task", "text", "item", "description")),
)


def need_only_a_title(scene: Scene) -> None:
    """A title is all that must be filled in."""
    person = scene.call_member()
    person.begin_to_add(TODO)
    required = [one.label for one in person.controls if one.is_required]
    require(len(required) <= 1, f"one must fill in {required}")


def keep_equal_ones(scene: Scene) -> None:
    """The same thing can be there to do twice."""
    person, title = scene.call_member(), scene.make_title()
    person.add(TODO, title)
    person.add(TODO, title)
    person.open_list(TODO)
    require(len(person.find_rows(title)) == 2, "the same title twice is not two rows")


def finish_one_of_equal(scene: Scene) -> None:
    """Of two with the same title just one becomes done."""
    person, title = scene.call_member(), scene.make_title()
    person.add(TODO, title)
    person.add(TODO, title)
    set_done(person, TODO, title, True)
    is_in(person, TODO, title, True)
    require(len(person.find_rows(title)) == 1, "marking one of two as done has not moved just one")


def delete_done(scene: Scene) -> None:
    """What is done can be deleted."""
    person, title = scene.call_member(), scene.make_title()
    person.add(TODO, title)
    set_done(person, TODO, title, True)
    person.delete(TODO, title)
    require(not person.lists(TODO, title), "what is done cannot be deleted")


def follow_in_other_tab(scene: Scene) -> None:
    """What is marked as done in one tab is done in the other."""
    here, title = scene.call_member(), scene.make_title()
    here.add(TODO, title)
    there = here.open_tab()
    set_done(here, TODO, title, True)
    require_done_for(there, TODO, title, "the second tab does not see what was done in the first")


CASE = AppCase(
    "todo",
    "A to-do list.",
    TODO,
    (*LISTING, *FINISHING, need_only_a_title, keep_equal_ones, finish_one_of_equal, delete_done)
    + (follow_in_other_tab, *USING),
)
