"""What each round of an attempt came to, as a grid shows it."""

from burnish.evals.tally import Attempt

SOLVED, KEPT, UNSOLVED, UNREACHED, BROKE = "solved", "kept", "unsolved", "unreached", "broke"
WORDS = {
    SOLVED: "solved",
    KEPT: "solved earlier, and stopped",
    UNSOLVED: "not solved",
    UNREACHED: "stopped unsolved",
    BROKE: "broke",
}


def states(attempt: Attempt, rounds: int) -> list[str]:
    """A state for each round; the rounds after an early end were not reached."""
    if attempt.error:
        return [BROKE] * rounds
    found = [SOLVED if solved else UNSOLVED for solved in attempt.solved_by_round]
    return (found + [KEPT if attempt.solved else UNREACHED] * rounds)[:rounds]


def group(attempt: Attempt) -> str:
    """The one word for an attempt: solved, unsolved, lost (right for a while, and given up) or broke."""
    if attempt.error:
        return BROKE
    if attempt.solved:
        return SOLVED
    return "lost" if any(attempt.solved_by_call) else UNSOLVED


def order(attempt: Attempt) -> tuple[bool, int, int]:
    """A key that puts what was solved soonest first, and what broke last."""
    solved = attempt.solved_by_round
    since = len(solved) - next((back for back, state in enumerate(reversed(solved)) if not state), len(solved))
    return bool(attempt.error), since if attempt.solved else 1_000_000, -sum(solved)
