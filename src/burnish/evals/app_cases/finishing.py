"""What a person tries with things that are open until they are done."""

from burnish.evals.app_cases.app_user import (
    EDIT,
    AppUser,
    Missed,
    Thing,
    Wish,
    choose_control,
    matches,
    read_controls,
    require,
)
from burnish.evals.app_cases.case import AppCheck, Scene

DONE = ("done", "complete", "finish", "check", "tick", "close")
REOPEN = ("reopen", "not done", "undo", "undone", "unfinish", "uncheck", "open", "start again", *DONE)
LISTS_OF_DONE = ("done", "completed", "finished", "closed", "archive")
LISTS_OF_OPEN = ("open", "not done", "unfinished", "pending", "active", "current", "remaining")
STATES_OF_OPEN = (*LISTS_OF_OPEN, "to do", "to-do", "todo", "new", "not started")
STATE = Wish((*DONE, "state", "status", "progress"), ("checkbox", "select"))


def set_done(person: AppUser, thing: Thing, title: str, is_done: bool) -> None:
    """By a button beside the row; where there is none, by editing it."""
    try:
        person.press(thing, title, *(DONE if is_done else REOPEN))
    except Missed:
        person.press(thing, title, *EDIT)
        control = choose_control(person.controls, STATE)
        if control is None:
            raise
        words = LISTS_OF_DONE if is_done else STATES_OF_OPEN
        options = [sent for said, sent in control.options.items() if matches(said, words)]
        value = options[0] if options else control.value if is_done else ""
        person.visitor.submit(person.get_form(), {control.name: value})
    require(not person.complaints, f"it cannot be made {'done' if is_done else 'open'}: {person.complaints[:1]}")


def is_in(person: AppUser, thing: Thing, title: str, is_done: bool) -> bool | None:
    """Whether a row is among those that are done, or open; None: nothing shows these alone."""
    person.open_list(thing)
    if link := person.find_link(LISTS_OF_DONE if is_done else LISTS_OF_OPEN):
        person.goto(link)
        return person.seek_row(title) is not None
    words = LISTS_OF_DONE if is_done else STATES_OF_OPEN
    for form in person.page.forms:
        for one in read_controls(person.page, form) if form.method == "GET" else ():
            said_so = (*words, "yes" if is_done else "no") if matches(one.label, STATE.words) else words
            fit = [sent for said, sent in one.options.items() if matches(said, said_so)]
            if fit:
                person.visitor.submit(form, {one.name: fit[0]})
                return person.seek_row(title) is not None
    return None


def require_done_for(user: AppUser, thing: Thing, title: str, why: str) -> None:
    """Who looks finds it among what is done, and not among what is open, as far as there are such lists."""
    found = is_in(user, thing, title, True), is_in(user, thing, title, False)
    require(found != (None, None), "nothing shows only those that are done, or open")
    require(found[0] is not False and found[1] is not True, why)


def begin_open(scene: Scene) -> None:
    """What is new is open: it is not among those that are done."""
    person, title = scene.call_member(), scene.make_title()
    person.add(scene.thing, title)
    found = is_in(person, scene.thing, title, True), is_in(person, scene.thing, title, False)
    require(found != (None, None), "nothing shows only those that are done, or open")
    require(found[0] is not True and found[1] is not False, "something new counts as done")


def finish(scene: Scene) -> None:
    """What is marked as done moves to those that are done; the others stay open."""
    person, title, other = scene.call_member(), scene.make_title(), scene.make_title()
    person.add(scene.thing, title)
    person.add(scene.thing, other)
    set_done(person, scene.thing, title, True)
    found = is_in(person, scene.thing, title, True), is_in(person, scene.thing, title, False)
    require(found != (None, None), "nothing shows only those that are done, or open")
    require(found[0] is not False, "what was marked as done is not among those that are done")
    require(found[1] is not True, "what was marked as done is still among those that are open")
    others = is_in(person, scene.thing, other, True), is_in(person, scene.thing, other, False)
    require(others[0] is not True and others[1] is not False, "another one has become done")


def reopen(scene: Scene) -> None:
    """What was marked as done by mistake can be opened again."""
    person, title = scene.call_member(), scene.make_title()
    person.add(scene.thing, title)
    set_done(person, scene.thing, title, True)
    set_done(person, scene.thing, title, False)
    found = is_in(person, scene.thing, title, True), is_in(person, scene.thing, title, False)
    require(found != (None, None), "nothing shows only those that are done, or open")
    require(found[0] is not True and found[1] is not False, "what was opened again still counts as done")


def stay_done(scene: Scene) -> None:
    """What is done stays done when its title is changed, and over a restart."""
    person, title, other = scene.call_member(), scene.make_title(), scene.make_title()
    person.add(scene.thing, title)
    set_done(person, scene.thing, title, True)
    person.edit(scene.thing, title, {scene.thing.title: other})
    scene.app.restart()
    person = scene.call_member()
    found = is_in(person, scene.thing, other, True), is_in(person, scene.thing, other, False)
    require(found != (None, None), "nothing shows only those that are done, or open")
    require(found[0] is not False and found[1] is not True, "what was done is open again")


FINISHING: tuple[AppCheck, ...] = (begin_open, finish, reopen, stay_done)
