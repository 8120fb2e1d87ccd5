"""Which tests the words of a task give: looked up again, so that a given test can be neither invented nor dropped."""

from burnish.errors import SetupProblem
from burnish.tasks.examples import called_names, find_examples
from burnish.tasks.sentence import from_sentence

ALSO = "\n\nAlso: "
"""Stands between the words of a run and those of the run that it goes on from."""


def given_in_words(words: str, continues: bool, names: set[str]) -> tuple[str, ...]:
    """The tests that the words give, of every sentence where a run goes on from another; none where they say nothing.

    `names` are those that the module must define.
    """
    first, *further = words.split(ALSO) if continues else [words]
    try:
        found = list(from_sentence(first).visible_tests)
    except SetupProblem:
        return ()
    for sentence in further:
        found += [test for test in find_examples(sentence) if names & {*called_names(test)}]
    return tuple(dict.fromkeys(found))
