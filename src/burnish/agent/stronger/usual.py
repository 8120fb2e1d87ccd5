"""Is a call of the kind that the known calls are? What happens outside of what a task is about, nobody has settled."""

from burnish.agent.relations import is_near, is_usual
from burnish.agent.seeds import Seed, seed_of, seeds_of
from burnish.parsing import parse_expression

_BROKEN = (SyntaxError, ValueError, TypeError, MemoryError, RecursionError)


class Usual:
    """The calls that tests make of some names, and what all of them have in common."""

    def __init__(self, names: tuple[str, ...], tests: tuple[str, ...]) -> None:
        self._rows: dict[str, list[tuple[object, ...]]] = {}
        for seed in (seed for name in names for seed in seeds_of(name, tests)):
            self._rows.setdefault(seed.form, []).append(seed.values)

    def __call__(self, call: str) -> bool:
        """Whether the call has the form of a known one, and arguments like those that such calls have."""
        seed = _read(call)
        return seed is not None and is_usual(self._rows.get(seed.form, []), seed.values)

    def near(self, call: str) -> bool:
        """The same, but an edge will do: zero, something empty, another order."""
        seed = _read(call)
        return seed is not None and is_near(self._rows.get(seed.form, []), seed.values)


def _read(call: str) -> Seed | None:
    try:
        return seed_of(parse_expression(call))
    except _BROKEN:
        return None
