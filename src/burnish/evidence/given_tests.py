"""Which tests the words of a task give: looked up again, so that a given test can be neither invented nor dropped."""

import json
import subprocess
import sys
from functools import cache

from burnish.errors import SetupProblem
from burnish.tasks.examples import find_called_names, find_examples
from burnish.tasks.sentence import from_sentence

ALSO = "\n\nAlso: "
"""Stands between the words of a run and those of the run that it goes on from."""
SECONDS = 15.0
"""Far more than a sentence takes; words can be made so that reading them takes for ever."""
HERE = "from burnish.evidence.given_tests import answer_question; answer_question()"


@cache
def find_given_tests(words: str, goes_on: bool, names: frozenset[str]) -> tuple[str, ...]:
    """The tests that the words give, of every sentence where a run goes on from another; none where they say nothing.

    `names` are those that the module must define.
    """
    first, *further = words.split(ALSO) if goes_on else [words]
    try:
        found = list(from_sentence(first).visible_tests)
    except SetupProblem:
        return ()
    for sentence in further:
        found += [test for test in find_examples(sentence) if names & {*find_called_names(test)}]
    return tuple(dict.fromkeys(found))


@cache
def find_given_tests_safely(words: str, goes_on: bool, names: frozenset[str]) -> tuple[str, ...] | None:
    """The same for words from anybody, in a process that can be ended; None where it had to be."""
    question = json.dumps([words, goes_on, sorted(names)])
    command = [sys.executable, "-I", "-c", HERE]
    try:
        done = subprocess.run(command, input=question, capture_output=True, text=True, timeout=SECONDS, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return tuple(map(str, json.loads(done.stdout)))


def answer_question() -> None:
    """Be that process: a question on standard input, the answer on standard output."""
    words, goes_on, names = json.load(sys.stdin)
    print(json.dumps(find_given_tests(words, goes_on, frozenset(names))))
