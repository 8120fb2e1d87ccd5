"""A search in which more can be pinned than in a run of the agent: the code is somebody's, its ways are its users'."""

import ast
from collections.abc import Iterator, Sequence

from burnish.agent.stronger.cover import Candidate
from burnish.agent.stronger.opinion import Opinion
from burnish.agent.stronger.search import Search
from burnish.agent.stronger.values import LONGEST_TEST, RAISES, is_value, test_of, value_of
from burnish.parsing import parse_expression
from burnish.tasks.steady import raised_in

IN_PLAIN = (".tolist()", ".to_dict()", ".isoformat()")
"""How arrays, tables and dates say what they hold in Python's own values, the plainest first."""
_BROKEN = (SyntaxError, ValueError, TypeError, MemoryError, RecursionError)


class Pinning(Search):
    """Errors that the code raises by name, texts in any script, and what an array, a table or a date holds, can be
    pinned as other values can.
    """

    def hear(self, calls: Sequence[str]) -> None:
        """The calls as they are; and where one gives an object that no test can write down, what that object holds."""
        fresh = [call for call in dict.fromkeys(calls) if call not in self.own]
        super().hear(fresh)
        objects = [call for call in fresh if is_value(self.own[call]) and not stated(call, self.own[call])]
        plain = self._in_plain(objects) if objects and not self.is_over else []
        super().hear(plain)

    def _in_plain(self, calls: Sequence[str]) -> list[str]:
        """The calls with what is to be asked of their objects; only those that then give something to state."""
        asked = {call: [f"{call}{part}" for part in IN_PLAIN] for call in calls}
        flat = [one for ones in asked.values() for one in ones]
        told = dict(zip(flat, self.ground.behave_all({0: self.code}, flat)[0], strict=True))
        good = {one for one in flat if is_value(told[one]) and stated(one, told[one])}
        found = [next((one for one in ones if one in good), "") for ones in asked.values()]
        return [one for one in found if one]

    def _judge(self, call: str, voices: Sequence[str]) -> None:
        super()._judge(call, voices)
        own = self.own[call]
        meant = own.startswith(RAISES) and own.removeprefix(RAISES) in raised_in(self.code)
        meant = meant and not any(map(is_value, voices))
        if call not in self.said and (meant or is_value(own)) and stated(call, own):
            self.said[call] = Opinion(own, "pinned", "only the code itself says so")

    @property
    def candidates(self) -> Iterator[Candidate]:
        """A test for each call that tells something apart, and for each on which the code stands alone."""
        for call, found in self.said.items():
            notices = frozenset(key for key, calls in self.apart.items() if call in calls)
            if notices or found.exposes:
                yield Candidate(call, stated(call, found.answer), found, notices)


def stated(call: str, answer: str) -> str:
    """A test that the call gives this; a text in another script is written as it is. Empty where it cannot be."""
    known = test_of(call, answer)
    if known or not is_value(answer):
        return known
    try:
        value = ast.literal_eval(parse_expression(value_of(answer)))
    except _BROKEN:
        return ""
    test = f"assert {call} == {value!r}"
    fits = isinstance(value, str) and value.isprintable() and not value.isascii() and len(test) <= LONGEST_TEST
    return test if fits else ""
