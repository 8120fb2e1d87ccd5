"""Tests of the model's own: eight are wanted, and nobody waits for the ninth where that costs nothing."""

import pytest

from burnish import Store
from burnish.events import ModelReplied, TestsProposed
from burnish.models.model import Ask, Done
from burnish.models.scripted import ScriptedModel
from burnish.tasks.sentence import from_sentence
from tests.support import attempt, block

DOUBLE = block("def double(n):\n    return 2 * n")
COUNTING = "\n".join(f"assert double({n}) == {2 * n}" for n in range(24))
BAG = block(
    "class Bag:\n    def __init__(self):\n        self.held = 0\n\n    def put(self, n):\n        self.held += n"
)
STORIES = "\n\n".join(
    f"bag = Bag()\nbag.put({n})\nassert bag.held == {n}\nassert bag.held < {n + 1}" for n in range(12)
)


class Leavable(ScriptedModel):
    """Lets go of an answer that is not read to its end, as a model on this machine does."""

    def counted(self, ask: Ask, text: str) -> Done:
        return Done(tokens_in=7, tokens_out=len(text.splitlines()), ended="enough")


def proposed(model: ScriptedModel, sentence: str, store: Store) -> tuple[TestsProposed, ModelReplied]:
    run = attempt(from_sentence(sentence), model, store=store)
    (reply,) = (one for one in run.all(ModelReplied) if one.purpose == "tests")
    return run.all(TestsProposed)[0], reply


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sentence", "code", "tests"),
    [
        ("a function double(n), e.g. double(2) == 4", DOUBLE, COUNTING),
        ("a class Bag with put(n) that adds n to held, which begins at 0", BAG, STORIES),
    ],
)
def test_the_rest_is_not_waited_for_and_the_tests_are_the_same(
    sentence: str, code: str, tests: str, store: Store
) -> None:
    script = {"": [code], "tests": [block(tests)], "assume": ["none"]}
    whole, to_its_end = proposed(ScriptedModel(script), sentence, store)
    early, left = proposed(Leavable(script), sentence, store)
    assert len(whole.tests) == 8
    assert early.tests == whole.tests
    assert (to_its_end.ended, left.ended) == ("stop", "enough")
    assert to_its_end.text.startswith(left.text)
    assert len(left.text) < 0.8 * len(to_its_end.text)
    assert (left.tokens_in, left.tokens_out) == (7, len(left.text.splitlines())), "as the model counts it"


@pytest.mark.slow
def test_an_answer_with_fewer_is_read_to_its_end(store: Store) -> None:
    few = "\n".join([*COUNTING.splitlines()[:7], *["assert double(0) == 0"] * 9, "assert triple(1) == 3"])
    script = {"": [DOUBLE], "tests": [block(few)], "assume": ["none"]}
    found, reply = proposed(Leavable(script), "a function double(n), e.g. double(2) == 4", store)
    assert reply.ended == "stop"
    assert len(found.tests) == 6, "seven, of which one is the user's own"
