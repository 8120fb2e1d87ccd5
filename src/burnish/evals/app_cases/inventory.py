"""Things with how many there are and how many there should be; what runs low is in a list of its own."""

import re

from burnish.evals.app_cases.app_user import AppUser, Thing, Wish, require
from burnish.evals.app_cases.case import AppCase, Scene
from burnish.evals.app_cases.everywhere import LISTING, USING, require_refusal_beside

NUMBER = ("number", "text")
MINIMUM = Wish(("minimum", "min", "reorder", "threshold", "low", "at least", "alert"), NUMBER)
QUANTITY = Wish(("quantity", "in stock", "stock", "on hand", "amount", "count", "number"), ("number",))
ITEM = Thing(
    ("items", "all items", "inventory", "products", "articles", "stock", "item"),
    Wish(("name", "title", "item", "product", "article")),
    {MINIMUM: "5", QUANTITY: "10"},
)
LOW = ("low-stock", "low stock", "low on stock", "low", "reorder", "running low", "running out")


def add(scene: Scene, quantity: int, minimum: int) -> tuple[AppUser, str]:
    """Somebody, and what they have added. Raises Missed where that is refused."""
    person, title = scene.call_member(), scene.make_title()
    person.add(ITEM, title, {MINIMUM: str(minimum), QUANTITY: str(quantity)})
    return person, title


def is_low(person: AppUser, title: str) -> bool:
    """Whether the list of what runs low has it. Raises Missed where nothing leads there."""
    person.goto("/")
    person.open(*LOW)
    return person.seek_row(title) is not None


def show_quantity(scene: Scene) -> None:
    """The list says how many there are."""
    person, title = add(scene, 1234, 7)
    person.open_list(ITEM)
    require(re.search(r"1[., \u202f]?234\b", person.get_row(title).text), "the list does not say how many there are")


def list_what_is_below(scene: Scene) -> None:
    """What is below its minimum is in the low-stock list."""
    require(is_low(*add(scene, 4, 5)), "what is below its minimum is not in the low-stock list")


def list_what_is_at(scene: Scene) -> None:
    """What is at its minimum is in the low-stock list."""
    require(is_low(*add(scene, 5, 5)), "what is at its minimum is not in the low-stock list")


def list_what_is_gone(scene: Scene) -> None:
    """What there is none of can be recorded, and is in the low-stock list."""
    require(is_low(*add(scene, 0, 5)), "what there is none of is not in the low-stock list")


def leave_out_what_is_above(scene: Scene) -> None:
    """What is above its minimum is not in the low-stock list."""
    require(not is_low(*add(scene, 6, 5)), "what is above its minimum is in the low-stock list")


def compare_as_numbers(scene: Scene) -> None:
    """Ten is more than nine: quantities are numbers, not words."""
    require(not is_low(*add(scene, 10, 9)), "10 counts as less than 9")
    require(is_low(*add(scene, 9, 10)), "9 counts as more than 10")


def enter_when_used_up(scene: Scene) -> None:
    """What becomes less appears in the low-stock list."""
    person, title = add(scene, 20, 5)
    complaints = person.edit(ITEM, title, {QUANTITY: "2"})
    require(not complaints, f"a new quantity was refused: {complaints[:1]}")
    require(is_low(person, title), "what has become less is not in the low-stock list")


def leave_when_refilled(scene: Scene) -> None:
    """What becomes more leaves the low-stock list."""
    person, title = add(scene, 2, 5)
    person.edit(ITEM, title, {QUANTITY: "20"})
    require(not is_low(person, title), "what has become more is still in the low-stock list")


def follow_the_minimum(scene: Scene) -> None:
    """Who raises a minimum finds the thing in the low-stock list."""
    person, title = add(scene, 8, 5)
    person.edit(ITEM, title, {MINIMUM: "9"})
    require(is_low(person, title), "a higher minimum does not count")


def leave_when_deleted(scene: Scene) -> None:
    """What is deleted is in no list."""
    person, title = add(scene, 1, 5)
    person.delete(ITEM, title)
    require(not person.lists(ITEM, title) and not is_low(person, title), "what was deleted is still in a list")


def keep_low_over_restart(scene: Scene) -> None:
    """After a restart the low-stock list is what it was."""
    (_, low), (_, high) = add(scene, 1, 5), add(scene, 9, 5)
    scene.app.restart()
    person = scene.call_member()
    require(is_low(person, low) and not is_low(person, high), "a restart has changed the low-stock list")


def refuse_negative(scene: Scene) -> None:
    """Fewer than none cannot be in stock, and that is said beside the field."""
    person, title = scene.call_member(), scene.make_title()
    complaints = person.try_to_add(ITEM, title, {QUANTITY: "-1"})
    require_refusal_beside(person, complaints, QUANTITY)
    require(not person.lists(ITEM, title), "something with a negative quantity was added")


def keep_typed(scene: Scene) -> None:
    """Who is refused need not type the name again."""
    person, title = scene.call_member(), scene.make_title()
    person.try_to_add(ITEM, title, {QUANTITY: "-1"})
    require(title in person.get_form().values.values(), "the name must be typed again")


def follow_in_other_tab(scene: Scene) -> None:
    """What is changed in one tab is in the low-stock list of the other."""
    here, title = add(scene, 20, 5)
    there = here.open_tab()
    require(not is_low(there, title), "what is above its minimum is in the low-stock list")
    here.edit(ITEM, title, {QUANTITY: "1"})
    require(is_low(there, title), "the second tab does not see what was changed in the first")


CASE = AppCase(
    "inventory",
    "An inventory with a low-stock list.",
    ITEM,
    (*LISTING, show_quantity, list_what_is_below, list_what_is_at, list_what_is_gone, leave_out_what_is_above)
    + (compare_as_numbers, enter_when_used_up, leave_when_refilled, follow_the_minimum, leave_when_deleted)
    + (keep_low_over_restart, refuse_negative, keep_typed, follow_in_other_tab, *USING),
)
