"""Holds what is said? Verdicts must be the same; a figure may differ by no more than chance makes it differ."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from burnish.checks.finding import Finding
from burnish.checks.performance.growth import ORDER
from burnish.events import Evidence, Outcome
from burnish.evidence.claim import Claim
from burnish.evidence.form import Dossier, Said
from burnish.evidence.versions import other_versions
from burnish.text import counted, one_line

COVERAGE_POINTS, MUTATION_POINTS, QUALITY_POINTS = 1.0, 5.0, 1.0
"""Another interpreter counts branches a little differently; a mutant that hangs may be noticed or not; a newer linter
knows a rule more.
"""
GROWTH_STEPS = 1
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_INTERVAL = re.compile(r"\((\d+) to (\d+)\)")
MOST_NAMED = 3


def claim_of_check(said: Said, found: Evidence, then: dict[str, str], now: dict[str, str]) -> Claim:
    """What one check said, beside what it says here."""
    shown, here = in_words(said.verdict, said.figure), in_words(found.verdict, found.figure)
    if found.verdict == "not_run":
        return Claim(what=said.check, answer="not_tried", said=shown, found=here, why=one_line(found.why, 300))
    others = other_versions(said.check, then, now)
    because = f" ({others})" if others else ""
    if found.verdict != said.verdict:
        why = f"it {here.split(',')[0]} here: {one_line(found.why, 200)}{because}"
        return Claim(what=said.check, answer="does_not_hold", said=shown, found=here, why=why)
    if not _alike(said.check, said.figure, found.figure):
        why = f"said was {_figure(said.figure)}, found {_figure(found.figure)}{because}"
        return Claim(what=said.check, answer="does_not_hold", said=shown, found=here, why=why)
    return Claim(what=said.check, answer="holds", said=shown, found=here)


def untried(said: Said, why: str) -> Claim:
    """A check that was left out, or claims nothing."""
    return Claim(what=said.check, answer="not_tried", said=in_words(said.verdict, said.figure), why=one_line(why, 300))


def claim_of_tests(dossier: Dossier, results: Mapping[str, Outcome], problem: str) -> Claim:
    """Whether each test says what it is said to say; `problem` is what kept some of them from saying anything."""
    ran = [test for test in dossier.tests if not test.disputed]
    said = _count([test.result for test in ran])
    found = [results.get(test.test, "not_run") for test in ran]
    other = [test.name for test, result in zip(ran, found, strict=True) if test.result != result]
    if not ran:
        return Claim(what="tests", answer="not_tried", said=said, why="there is no test")
    verdict = "passed" if all(result == "passed" for result in found) else "failed"
    told = next((one.verdict for one in dossier.checks if one.check == "tests"), verdict)
    if not other and told not in (verdict, "not_run"):
        why = f"the check is said to have {told}, and it {verdict}"
        return Claim(what="tests", answer="does_not_hold", said=said, found=_count(found), why=why)
    if other:
        more = f" and {len(other) - MOST_NAMED} more" if len(other) > MOST_NAMED else ""
        why = f"not as said: {', '.join(one_line(name, 60) for name in other[:MOST_NAMED])}{more}"
        why += f" ({one_line(problem, 200)})" if problem else ""
        return Claim(what="tests", answer="does_not_hold", said=said, found=_count(found), why=why)
    return Claim(what="tests", answer="holds", said=said, found=_count(found))


def claim_of_verdict(
    dossier: Dossier, tests: Claim, results: Mapping[str, Outcome], reaches: Sequence[Finding] = ()
) -> Claim:
    """Whether the tests bear the verdict, by the rules of the judge. By `reaches` code could fool them."""
    said = dossier.verdict or "no verdict"
    counting = [test for test in dossier.tests if not test.disputed and test.origin != "pinned"]
    passes = bool(counting) and all(results.get(test.test) == "passed" for test in counting)
    given = any(test.origin == "given" for test in counting)
    if said not in ("proven", "plausible"):
        return Claim(what="verdict", answer="holds", said=said, why="such a run claims nothing")
    if tests.answer == "not_tried":
        return Claim(what="verdict", answer="not_tried", said=said, why=tests.why)
    if not passes:
        return Claim(
            what="verdict", answer="does_not_hold", said=said, found="failed", why="tests that count fail here"
        )
    if said == "proven" and not given:
        why = "no test was given, so nothing can be proven"
        return Claim(what="verdict", answer="does_not_hold", said=said, found="plausible", why=why)
    if said == "proven" and reaches:
        return Claim(what="verdict", answer="does_not_hold", said=said, found="plausible", why=reaches[0].what)
    return Claim(what="verdict", answer="holds", said=said, found=said, why="; ".join(_on_trust(dossier)))


def _on_trust(dossier: Dossier) -> Iterator[str]:
    """What no words and no file bear out: only the evidence says that a person wanted it so."""
    given = [test for test in dossier.tests if test.origin == "given"]
    told = [test for test in given if test.given_in not in ("words", "file")]
    if told:
        places = ", ".join(dict.fromkeys(test.given_in or "another place" for test in told))
        yield f"{len(told)} of {counted(len(given), 'given test')} not in the task's words; said to be from: {places}"
    if dossier.task.test_file:
        yield "the tests share a file that is said to be the user's own, and what stands in it has a say in all of them"
    if back := dossier.task.taken_back:
        yield f"{counted(len(back), 'test')} that the words give, taken back by a person, as is said"


def in_words(verdict: Outcome, figure: str) -> str:
    """An answer in a few words: "passed, 92 %"."""
    return ", ".join(part for part in (verdict.replace("_", " "), one_line(figure, 60)) if part)


def _count(results: list[Outcome]) -> str:
    passed = results.count("passed")
    if passed == len(results):
        return f"{counted(passed, 'test')} passed"
    return f"{passed} of {counted(len(results), 'test')} passed"


def _figure(figure: str) -> str:
    return one_line(figure, 60) or "no figure"


def _alike(check: str, said: str, found: str) -> bool:
    same = _SAME.get(check)
    return said == found or (same is not None and same(said, found))


def _near(points: float) -> Callable[[str, str], bool]:
    """Whether two figures begin with about the same number."""

    def same(said: str, found: str) -> bool:
        first, second = _NUMBER.search(said), _NUMBER.search(found)
        return bool(first and second) and abs(float(first[0]) - float(second[0])) <= points  # type: ignore[index]

    return same


def _mutation(said: str, found: str) -> bool:
    """Of a sample that was taken here, the other score may lie anywhere in its interval. What interval the evidence
    names for its own is not believed.
    """
    return _near(MUTATION_POINTS)(said, found) or _within(found, said)


def _within(sample: str, other: str) -> bool:
    ends, score = _INTERVAL.search(sample), _NUMBER.search(other)
    return bool(ends and score) and int(ends[1]) <= float(score[0]) <= int(ends[2])  # type: ignore[index]


def _performance(said: str, found: str) -> bool:
    """The slowest function grows about as fast; which it is among equals, and how long it takes, is chance."""
    grows = [figure.rpartition(": ")[2].split(",")[0].strip() for figure in (said, found)]
    if not {*grows} <= {*ORDER}:
        return False
    first, second = map(ORDER.index, grows)
    return abs(first - second) <= GROWTH_STEPS


_SAME: dict[str, Callable[[str, str], bool]] = {
    "coverage": _near(COVERAGE_POINTS),
    "mutation": _mutation,
    "quality": _near(QUALITY_POINTS),
    "performance": _performance,
}
"""Checks whose figure is not the same to the last digit each time; all others must say what they said."""
