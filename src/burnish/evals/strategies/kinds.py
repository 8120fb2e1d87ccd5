"""The strategies there are, by name."""

from collections.abc import Sequence
from difflib import get_close_matches

from burnish.agent.policy import PARTS
from burnish.agent.questions import MOST_QUESTIONS
from burnish.errors import SetupProblem
from burnish.evals.strategies.baselines import Retry, Single
from burnish.evals.strategies.burnish import Burnish, BurnishWithTests
from burnish.evals.strategies.reflect import Reflect
from burnish.evals.strategies.strategy import Strategy

OWN = (Burnish(), BurnishWithTests())
"""Those that are our agent."""
OWN_NAMES = tuple(kind.name for kind in OWN)
STRATEGIES: dict[str, Strategy] = {kind.name: kind for kind in (Single(), Retry(), Reflect(), *OWN)}


def find_strategy(name: str) -> Strategy:
    """The strategy of that name, or a SetupProblem with the nearest names."""
    if name in STRATEGIES:
        return STRATEGIES[name]
    near = get_close_matches(name.lower(), STRATEGIES, n=2, cutoff=0.5)
    meant = f" Did you mean {' or '.join(near)}?" if near else ""
    raise SetupProblem(
        f"There is no strategy {name!r}.{meant} There are: {', '.join(STRATEGIES)}. "
        f"Name one of them: --strategy {near[0] if near else next(iter(STRATEGIES))}"
    )


def check_answers(answers: int, name: str) -> int:
    """How many questions the reference answers. SetupProblem for too many, and for a strategy that asks none."""
    if answers and name not in OWN_NAMES:
        raise SetupProblem(
            f"Only `burnish` asks questions that could be answered, not {name}. Leave out --answers, or type: "
            f"--strategy {Burnish.name} --answers {min(answers, MOST_QUESTIONS)}"
        )
    if not 0 <= answers <= MOST_QUESTIONS:
        raise SetupProblem(f"At most {MOST_QUESTIONS} questions are asked in a run. Type: --answers {MOST_QUESTIONS}")
    return answers


def check_parts(parts: Sequence[str], name: str) -> tuple[str, ...]:
    """The parts of our agent to do without, each once; SetupProblem for one it has not, or for another strategy."""
    wrong = [part for part in parts if part not in PARTS]
    if not parts or (name in OWN_NAMES and not wrong):
        return tuple(dict.fromkeys(parts))
    what = (
        f"There is no part {wrong[0]!r} to leave out" if wrong else f"Only `burnish` has parts to leave out, not {name}"
    )
    raise SetupProblem(f"{what}. The parts are: {', '.join(PARTS)}. Leave out some of them: --without {PARTS[0]}")
