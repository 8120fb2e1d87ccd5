"""Rooms that are booked for a while: no two bookings of one room share a moment."""

import re
from collections.abc import Mapping
from datetime import date, timedelta

from burnish.evals.app_cases.app_user import DELETE, EDIT, AppUser, Thing, Wish, choose_control, require
from burnish.evals.app_cases.case import AppCase, Scene
from burnish.evals.app_cases.everywhere import LISTING, USING, require_refusal_beside

ROOM = Thing(("rooms", "all rooms", "room"), Wish(("name", "room", "title", "number")))
BOOKED = Wish(("room",), ("select", "text"))
BOOKING = Thing(("bookings", "all bookings", "reservations", "calendar", "booking", "schedule"), BOOKED)
FROM, UNTIL = ("start", "from", "begin"), ("end", "until", "to", "till")
START, END = Wish(FROM, ("datetime-local",)), Wish(UNTIL, ("datetime-local",))
DAY, START_TIME, END_TIME = Wish(("day", "date"), ("date",)), Wish(FROM, ("time",)), Wish(UNTIL, ("time",))


def say_when(person: AppUser, begin: str, end: str) -> Mapping[Wish, str]:
    """What to fill in for a time in thirty days, whether the form asks for two moments, or for a day and two times."""
    day = date.today() + timedelta(days=30)
    if any(one.kind == "datetime-local" for one in person.controls):
        return {START: f"{day}T{begin}", END: f"{day}T{end}"}
    return {DAY: day.isoformat(), START_TIME: begin, END_TIME: end}


def try_to_book(person: AppUser, room: str, begin: str, end: str) -> list[str]:
    """Book a room; what the app complains of comes back."""
    person.begin_to_add(BOOKING)
    return person.fill_in({BOOKED: room, **say_when(person, begin, end)})


def begin_with(scene: Scene, *times: tuple[str, str]) -> tuple[AppUser, str]:
    """Somebody, and a new room that is booked at these times. Raises Missed where that is refused."""
    person, room = scene.call_member(), scene.make_title()
    person.add(ROOM, room)
    for begin, end in times:
        complaints = try_to_book(person, room, begin, end)
        require(not complaints, f"a booking from {begin} to {end} was refused: {complaints[:1]}")
    return person, room


def count_bookings(person: AppUser, room: str) -> int:
    """How many the list has of a room."""
    person.open_list(BOOKING)
    return len(person.find_rows(room))


def require_double_is_refused(scene: Scene, begin: str, end: str) -> None:
    """A room is booked from ten to twelve; a second booking at another time that overlaps must not be."""
    person, room = begin_with(scene, ("10:00", "12:00"))
    complaints = try_to_book(person, room, begin, end)
    require(complaints, f"booked from 10:00 to 12:00, and from {begin} to {end} too")
    require(count_bookings(person, room) == 1, "a booking that was refused is in the list")


def book(scene: Scene) -> None:
    """A booking is in the list with its room and its time."""
    person, room = begin_with(scene, ("10:00", "12:00"))
    person.open_list(BOOKING)
    shown = person.get_row(room).text
    require(re.search(r"10[:.]00|\b10 ?am", shown, re.IGNORECASE), f"the list does not say when: {shown!r}")


def refuse_same_time(scene: Scene) -> None:
    """A second booking of a room at the same time is refused, and that is said."""
    require_double_is_refused(scene, "10:00", "12:00")


def refuse_later_overlap(scene: Scene) -> None:
    """A second booking that begins before the first has ended is refused."""
    require_double_is_refused(scene, "11:00", "13:00")


def refuse_earlier_overlap(scene: Scene) -> None:
    """A second booking that ends after the first has begun is refused."""
    require_double_is_refused(scene, "09:00", "10:30")


def refuse_inside(scene: Scene) -> None:
    """A second booking within the first is refused."""
    require_double_is_refused(scene, "10:30", "11:00")


def refuse_around(scene: Scene) -> None:
    """A second booking around the first is refused."""
    require_double_is_refused(scene, "09:00", "13:00")


def accept_touching(scene: Scene) -> None:
    """Bookings that end when the next one begins are accepted."""
    person, room = begin_with(scene, ("10:00", "12:00"), ("12:00", "13:00"), ("09:00", "10:00"))
    require(count_bookings(person, room) == 3, "of three bookings one after the other some are missing")


def accept_other_room(scene: Scene) -> None:
    """Another room can be booked for the same time."""
    begin_with(scene, ("10:00", "12:00"))
    person, room = begin_with(scene, ("10:00", "12:00"))
    require(count_bookings(person, room) == 1, "the other room is not booked")


def refuse_end_before_start(scene: Scene) -> None:
    """A booking that ends before it begins is refused."""
    person, room = begin_with(scene)
    require(try_to_book(person, room, "12:00", "10:00"), "a booking that ends before it begins was accepted")
    require(count_bookings(person, room) == 0, "a booking that was refused is in the list")


def refuse_moving_onto_another(scene: Scene) -> None:
    """A booking cannot be moved onto another of its room."""
    person, room = begin_with(scene, ("10:00", "12:00"), ("14:00", "15:00"))
    person.press(BOOKING, room, *EDIT)
    require(person.fill_in(say_when(person, "09:00", "18:00")), "a booking was moved onto another")


def move_within_itself(scene: Scene) -> None:
    """A booking can be made longer: it does not stand in its own way."""
    person, room = begin_with(scene, ("10:00", "12:00"))
    person.press(BOOKING, room, *EDIT)
    complaints = person.fill_in(say_when(person, "10:00", "13:00"))
    require(not complaints, f"a booking could not be made longer: {complaints[:1]}")
    require(try_to_book(person, room, "12:00", "13:00"), "the longer booking does not keep others away")


def free_when_deleted(scene: Scene) -> None:
    """Once a booking is deleted its time is free."""
    person, room = begin_with(scene, ("10:00", "12:00"))
    person.press(BOOKING, room, *DELETE)
    require(count_bookings(person, room) == 0, "a booking cannot be deleted")
    complaints = try_to_book(person, room, "10:00", "12:00")
    require(not complaints, f"the time of a deleted booking is not free: {complaints[:1]}")


def refuse_who_comes_second(scene: Scene) -> None:
    """Two people fill in the form for the same time; whoever is second is refused."""
    person, room = begin_with(scene)
    other = scene.call_member(1)
    person.begin_to_add(BOOKING)
    other.begin_to_add(BOOKING)
    first = person.fill_in({BOOKED: room, **say_when(person, "10:00", "12:00")})
    second = other.fill_in({BOOKED: room, **say_when(other, "11:00", "13:00")})
    require(not first, f"the first was refused: {first[:1]}")
    require(second, "two people have booked the same room for the same time")


def keep_typed_times(scene: Scene) -> None:
    """Who is refused finds the form as it was filled in."""
    person, room = begin_with(scene, ("10:00", "12:00"))
    try_to_book(person, room, "11:10", "13:20")
    kept = " ".join(person.get_form().values.values())
    require("11:10" in kept and "13:20" in kept, "the times must be typed again")


def require_a_time(scene: Scene) -> None:
    """A booking without a time is refused, and that is said beside the field."""
    person, room = begin_with(scene)
    complaints = try_to_book(person, room, "", "")
    times = [one for one in (START, START_TIME) if choose_control(person.controls, one)]
    require_refusal_beside(person, complaints, times[0])


def refuse_after_restart(scene: Scene) -> None:
    """After a restart a time that is taken is still taken."""
    person, room = begin_with(scene, ("10:00", "12:00"))
    scene.app.restart()
    person = scene.call_member()
    require(count_bookings(person, room) == 1, "a restart has lost a booking")
    require(try_to_book(person, room, "11:00", "13:00"), "after a restart a taken time was booked again")


CASE = AppCase(
    "rooms",
    "Room booking without double bookings.",
    ROOM,
    (*LISTING, book, refuse_same_time, refuse_later_overlap, refuse_earlier_overlap, refuse_inside, refuse_around)
    + (accept_touching, accept_other_room, refuse_end_before_start, refuse_moving_onto_another, move_within_itself)
    + (free_when_deleted, refuse_who_comes_second, keep_typed_times, require_a_time, refuse_after_restart, *USING),
)
