"""Is the work going in circles? Then it asks differently, or asks a larger model; where nothing is left, it ends."""

from burnish.agent.policy import WARMEST, last_warmth
from burnish.agent.work import SILENT, Work
from burnish.runs.run import Version

NO_PROGRESS_ROUNDS = 2
SAME_ERROR = 3
ALTERNATING = 4
REPEATED_ROUNDS = 2


def why_stuck(work: Work) -> str:
    """Why asking the same way again would be a waste, in a few words; empty while there is hope."""
    if work.repeats:
        return "the last round only repeated earlier code"
    if _alternates(work):
        return "the answers go back and forth between two versions"
    error = _same_error(work)
    if error:
        return f"the last {SAME_ERROR} answers fail in the same way"
    return f"no progress in {NO_PROGRESS_ROUNDS} rounds" if _no_progress(work) else ""


def nothing_new(work: Work) -> bool:
    """Whether all that could be changed was changed, and yet the last rounds only said again what had been said."""
    last = range(work.round - REPEATED_ROUNDS + 1, work.round + 1)
    return last_warmth(work) >= WARMEST and all(work.only_repeats(round_) for round_ in last)


def why_silent(work: Work) -> str:
    """The error that kept every answer of the last round from coming; empty where one came."""
    last = [version.problem for version in work.answers if version.round == work.round]
    silent = bool(last) and all(problem.startswith(SILENT) for problem in last)
    return last[-1].removeprefix(SILENT) if silent else ""


def _alternates(work: Work) -> bool:
    last = [version.code for version in work.answers[-ALTERNATING:]]
    return len(last) == ALTERNATING and last[0] == last[2] != last[1] == last[3]


def _same_error(work: Work) -> str:
    """What the newest answers all fail with: the same words about the same test."""
    last = [said(work, version) for version in work.answers[-SAME_ERROR:]]
    return last[0] if len(last) == SAME_ERROR and last[0] and len(set(last)) == 1 else ""


def said(work: Work, version: Version) -> str:
    """What is wrong with a version, as one text to compare; empty when nothing is."""
    failure = work.first_failure(version)
    return "\n".join(failure) if failure else version.problem


def _no_progress(work: Work) -> bool:
    """Whether the best version is older than the last rounds, and they made nothing as good."""
    if work.best is None or work.round < NO_PROGRESS_ROUNDS:
        return False
    return work.best.round <= work.round - NO_PROGRESS_ROUNDS
