"""What a sentence asks for beside things and their values: accounts, rights, rules, states, orders.

Each is recognised by its usual words (`phrases.toml`) and cut out, so that only things and values are left to be read.
What is no app at all, and what contradicts itself, is recognised in the same way.
"""

import re
import tomllib
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

from burnish.apps.planning.drafts import Reserving, State, Wishes
from burnish.apps.planning.vocabulary import find_singular, make_label, say

_PHRASES: dict[str, Any] = tomllib.loads((files("burnish.apps.planning") / "phrases.toml").read_text("utf-8"))


def _compile(lines: str) -> re.Pattern[str]:
    return re.compile("|".join(lines.strip().splitlines()), re.IGNORECASE)


GRAMMAR = {name: _compile(lines) for name, lines in _PHRASES["grammar"].items()}
_WISHES = {name: _compile(lines) for name, lines in _PHRASES["wishes"].items()}
_LEFT_OUT = {name: _compile(lines) for name, lines in _PHRASES["left_out"].items()}
_REFUSED = {name: _compile(lines) for name, lines in _PHRASES["refused"].items()}
_CONTRADICTIONS = {question: [*map(_compile, both)] for question, both in _PHRASES["contradictions"].items()}
_MOMENTS = ("day", "time", "moment", "hour", "tag")
_THINGS = ("thing", "one", "item", "object")


def find_unbuildable(sentence: str) -> str:
    """What a sentence asks for that is no app of tables and pages; empty where it is one."""
    return next((name for name, pattern in _REFUSED.items() if pattern.search(sentence)), "")


def find_contradiction(sentence: str) -> str:
    """The question that a sentence which contradicts itself leaves; empty where it does not."""
    found = (ask for ask, both in _CONTRADICTIONS.items() if all(pattern.search(sentence) for pattern in both))
    return next(found, "")


def repeats_wish(label: str) -> bool:
    """Whether a label only says which rows are to be seen: "running low", "overdue"."""
    return any(_WISHES[name].fullmatch(label) for name in ("scarce", "today", "overdue", "expired"))


def find_acted_on(phrase: str) -> str:
    """The things with which people do something: "rides" of "members offer rides"; empty where nobody does."""
    acting = _WISHES["members_act"].search(phrase)
    return acting["things"].strip() if acting else ""


def read_wishes(text: str, german: bool = False) -> tuple[str, Wishes, tuple[str, ...]]:
    """A sentence without its wishes, the wishes, and what it asks for that is left out."""
    rest = _Rest(text)
    left_out = tuple(name for name, pattern in _LEFT_OUT.items() if rest.cut(pattern))
    without_login = rest.cut_wish("no_login")
    reserving = rest.cut_wish("reserving")
    rights = next((name for name in ("own", "shared", "only_me", "read_by_all") if rest.cut_wish(name)), "")
    has_login, is_team = bool(rest.cut_wish("login")), bool(rest.cut_wish("team"))
    acts, has_members = find_acted_on(rest.text), _WISHES["members"].search(text)
    states = tuple(rest.cut_states(german))
    if not rights and (acts or _WISHES["meeting"].search(text)):
        rights = "shared" if states else "shown"  # what others mark, others must be able to change
    elif not rights and (has_members or is_team):
        rights = "shared"  # what is for several people is for each of them to see and change
    needs_accounts = has_login or is_team or has_members or acts or rights in ("own", "only_me", "read_by_all")
    due = tuple(name for name in ("today", "overdue", "expired") if rest.cut_wish(name))
    scarce, order = rest.cut_wish("scarce"), rest.cut_wish("sort")
    rest.cut_wish("search")
    computed = rest.cut_wish("computed")
    wishes = Wishes.model_validate(
        {
            "accounts": False if without_login else True if needs_accounts else None,
            "rights": "" if without_login else rights,
            "reserving": _read_reserving(reserving, german) if reserving else None,
            "states": states,
            "due": due,
            "is_scarce": bool(scarce),
            "sort": (order["sort"] or "created") if order else "",
            "descending": bool(order and order["newest"]),
            "computed": (computed["what"] or computed["total"],) if computed else (),
        }
    )
    return " ".join(rest.text.split()).strip(" ,;"), wishes, left_out


class _Rest:
    """What is left of a sentence while wishes are cut out of it."""

    def __init__(self, text: str) -> None:
        self.text = _WISHES["glued"].sub(lambda match: match[0].replace(" ", "~"), text)

    def cut(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """The first match, which is gone from then on."""
        match = pattern.search(self.text)
        if match:
            self.text = f"{self.text[: match.start()]} {self.text[match.end() :]}"
        return match

    def cut_wish(self, name: str) -> re.Match[str] | None:
        """The words of a wish."""
        return self.cut(_WISHES[name])

    def cut_states(self, german: bool) -> Iterator[State]:
        """What rows can be marked as: "can be marked as paid", "members can close an issue"."""
        while match := self.cut_wish("state"):
            said = match.groupdict()
            verb = (said["verb"] or said["does"] or "").lower()
            participle = verb and f"{verb.removesuffix('e')}ed"
            label = said["state"] or participle or say("out" if said["out"] else "done", german)
            thing = said["out"] or said["what"] or said["object"] or said["thing"] or ""
            yield State(label=make_label(label), entity=make_label(find_singular(thing, german)))


def _read_reserving(match: re.Match[str], german: bool) -> Reserving:
    """What may not be there twice: "no Y twice in the same Z", "without double X", "X of one Y must not overlap"."""
    said = {name: (value or "").strip().lower() for name, value in match.groupdict().items()}
    by_day = "day" in (said["second"], said["when"])
    place = said["second"] or said["when"]
    if (place and place not in _MOMENTS) or (said["first"] and by_day):
        things = (said["first"] or said["who"], "" if place in _MOMENTS else place)
        return Reserving(entity=said["entity"], together=tuple(filter(None, things)), by_day=by_day)
    same = "" if said["same"] in _THINGS else said["same"]
    return Reserving(
        entity=find_singular(said["entity"] or said["rows"], german),
        per=find_singular(said["per"] or same or said["for"] or said["first"] or said["who"], german),
        by_day=by_day,
    )
