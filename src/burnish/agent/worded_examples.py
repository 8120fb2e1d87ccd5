"""Examples in words: "the list [3, 1, 2] becomes [1, 2, 3]", "zum Beispiel ergibt 7 die 11".

Rules find the values that stand in the text and which of them may belong together. What cannot be read otherwise ("7
gives 11") is taken as it is; of the rest ("2024 is one, so it returns True") a model says what is an example, under a
schema that has these readings and no others. Whether one decides is up to the versions: `confirm_examples`.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from burnish.agent import prompts
from burnish.events import Frozen, WordedExample
from burnish.json_schema import freeze_schema
from burnish.models.model import Ask
from burnish.parsing import try_parse
from burnish.tasks.contradiction import find_contradiction, refuse_contradiction
from burnish.tasks.examples import TextValue, blank_examples, find_values
from burnish.tasks.sentence import find_kinds
from burnish.tasks.task import Task

PURPOSE = "examples"
MOST_EXAMPLES = 5
MOST_VALUES, MOST_READINGS = 80, 12
MOST_TOKENS = 200
MOST_TEXT = 4000
"""Characters of a text that are looked at."""
MOST_SPAN = 400
"""Characters that the values of one example take, with what stands between them."""
WORDS = ("True", "False", "None")
"""Values that are everyday words too."""
NEAR = 100
"""Characters around the values of an example that may be quoted with them."""
_STRONG = (
    r"(?:→|⇒|->|=>|(?:becomes?|gives?|returns?|yields?|produces?|(?:turns?|turned|converted) (?:in)?to|results? in|"
    r"maps? to|comes? out(?: as)?|equals?|(?:you|we|I) get|evaluates to|ergibt|ergeben|wird|werden|liefert|liefern|"
    r"kommt|gibt|beträgt|bekommt man|erhält man)(?!\w))"
)
_WEAK = r"(?:(?:is|are|has|have|makes?|needs?|be|ist|sind|hat|haben|heißt|macht)(?!\w))"
_WORDS = r"(?:[^\W\d_]+\s+)"
_PLAIN = re.compile(
    rf"(?!.*\n)(?:`?[,:]?\s+{_WORDS}{{0,2}}{_STRONG}\s+{_WORDS}{{0,2}}`?|`?\s*(?:→|⇒|->|=>)\s*`?)",
    re.IGNORECASE | re.DOTALL,
)
"""Between input and output, on one line: all that makes them an example, and nothing else."""
_LIKELY = re.compile(
    rf"`?[,:]?\s+(?:{_WORDS}|\w+,\s+){{0,5}}(?:{_STRONG}|{_WEAK})\s+{_WORDS}{{0,3}}`?|`?\s+(?:as|als)?\s*`?",
    re.IGNORECASE,
)
"""Between input and output of what may be one; nothing at all stands there in "bei 7 ergibt sich 11, bei 8 11"."""
_BACKWARDS = re.compile(r"`?\s+(?:for|from|für|bei|aus)\s+(?:the\s+|an?\s+)?`?", re.IGNORECASE)
"""Between output and input: "'101' for 5"."""
_VERB_BEFORE = re.compile(rf"{_STRONG}\s+`?$", re.IGNORECASE)
_ARTICLE = re.compile(r"`?\s+(?:die|den|das|der)\s+`?", re.IGNORECASE)
"""In German the verb may stand before both: "zum Beispiel ergibt 7 die 11"."""
_SHOULD = re.compile(rf"`?,?\s+(?:soll|sollte|muss)\s+{_WORDS}{{0,2}}`?", re.IGNORECASE)
_WERDEN = re.compile(r"`?\s+(?:werden|herauskommen|entstehen)(?!\w)", re.IGNORECASE)
"""Or one half of it before the output, and the other behind: "aus 3 soll 9 werden"."""
_JOINT = re.compile(rf"`?[\s,]*{_WORDS}{{0,2}}`?")
_LIST = re.compile(r"`?\s*,?\s*(?:(?:and|und|with|mit|plus)\s+)?`?", re.IGNORECASE)
"""Between two inputs, and between two that can be nothing else."""
_PAUSE = re.compile(r"[.;:!?]\s|\n")
_END = re.compile(r"[,;:!?\n)]|\.(?:\s|$)|$")


class Reading(Frozen):
    """What the words may say."""

    example: WordedExample
    is_plain: bool
    places: tuple[int, ...]
    """Which of the text's values it takes."""


def find_readings(task: Task, signature: str) -> tuple[Reading, ...]:
    """Whatever may be an example in the words and was not read as code; plain ones first.

    Nothing where tests are there to see in an evaluation, in which each question counts, or for code to be repaired, as
    its description was not written to be read so.
    """
    name = signature.partition("(")[0]
    kinds = dict(find_kinds(task.model_copy(update={"entry_point": name})))
    is_class = "." in name or bool(task.also) or kinds.get(name) == "class"
    is_decided = (task.split != "user" or task.broken) and bool(task.visible_tests or task.project_tests)
    if is_class or is_decided or not task.described:
        return ()
    text = blank_examples(task.prompt[:MOST_TEXT], task.visible_tests)
    values, (least, most) = find_values(text)[:MOST_VALUES], (1, MOST_EXAMPLES)
    match try_parse(f"def {signature}: pass") if "(" in signature else None:
        case ast.Module(body=[ast.FunctionDef(args=args)]):
            named = len(args.posonlyargs) + len(args.args)
            least, most = named - len(args.defaults), MOST_EXAMPLES if args.vararg else named
    found: dict[str, Reading] = {}
    for size in range(max(least, 1), most + 1):
        for place in range(len(values) - size):
            taken = values[place : place + size + 1]
            if taken[-1].end - taken[0].start > MOST_SPAN:
                continue
            for inputs, output, is_plain in _read(text, taken):
                test = f"assert {name}({', '.join(one.literal for one in inputs)}) == {output.literal}"
                example = WordedExample(test=test, quote=_quote(task.prompt, values, place, place + size))
                places = tuple(range(place, place + size + 1))
                is_new = test not in task.visible_tests and not (test in found and found[test].is_plain)
                # "Return True, else return False" has no input.
                if is_new and not all(one.literal in WORDS for one in inputs):
                    found[test] = Reading(example=example, is_plain=is_plain, places=places)
    # Where the signature leaves open how many inputs there are, the words that come first have them all.
    order = sorted(found.values(), key=lambda one: (not one.is_plain, one.places[0], -len(one.places)))
    return tuple(order[:MOST_READINGS])


def ask_for_examples(task: Task, signature: str, readings: Sequence[Reading]) -> Ask | None:
    """The question which readings are meant; None where all are plain, or take values of plain ones."""
    taken = {place for one in readings if one.is_plain for place in one.places}
    unsure = [_claim(one) for one in readings if not one.is_plain and not taken & {*one.places}]
    if not unsure:
        return None
    chosen = {"type": "array", "items": {"type": "string", "enum": unsure}, "maxItems": MOST_EXAMPLES}
    schema = {
        "type": "object",
        "properties": {"examples": chosen},
        "required": ["examples"],
        "additionalProperties": False,
    }
    messages = prompts.examples(task, signature, unsure)
    return Ask(purpose=PURPOSE, messages=messages, max_tokens=MOST_TOKENS, json_schema=freeze_schema(schema))


def choose_examples(task: Task, readings: Sequence[Reading], said: Iterable[str] = ()) -> tuple[WordedExample, ...]:
    """Plain readings and those that the model named; no value serves twice.

    One that contradicts an earlier one or a given test is dropped; where it is plain, so that it can be no misreading,
    a user is told of both by SetupProblem, before anything is written.
    """
    named = {*said}
    used: set[int] = set()
    kept: list[WordedExample] = []
    for one in readings:
        if used & {*one.places} or not (one.is_plain or _claim(one) in named):
            continue
        tests = (*task.visible_tests, *(earlier.test for earlier in kept), one.example.test)
        if one.is_plain and task.split == "user":
            refuse_contradiction(tests, quotes={read.test: read.quote for read in (*kept, one.example)})
        if find_contradiction(tests) is None:
            used |= {*one.places}
            kept.append(one.example)
    return tuple(kept[:MOST_EXAMPLES])


def confirm_examples(worded: Sequence[str], fresh: Iterable[tuple[set[str], bool]]) -> tuple[str, ...]:
    """The examples that decide. `fresh` are versions that were written without seeing another one: the tests that each
    passes, and whether those that were given are among them.

    Two must pass an example; one is enough where no other that passes what was given speaks against it.
    """
    versions = list(fresh)
    found = []
    for test in worded:
        passing = sum(test in passed for passed, _ in versions)
        against = any(is_good and test not in passed for passed, is_good in versions)
        if passing > 1 or (passing and not against):
            found.append(test)
    return tuple(found)


def _read(text: str, taken: Sequence[TextValue]) -> Iterator[tuple[Sequence[TextValue], TextValue, bool]]:
    """Inputs and output that neighbouring values may be, and whether that is plain: one way or none."""
    between = [text[left.end : right.start] for left, right in pairwise(taken)]
    *joints, last = between
    before, after = text[max(0, taken[0].start - NEAR) : taken[0].start], text[taken[-1].end :][:NEAR]
    if all(map(_JOINT.fullmatch, joints)):
        is_german = (_VERB_BEFORE.search(before) and _ARTICLE.fullmatch(last)) or (
            _SHOULD.fullmatch(last) and _WERDEN.match(after)
        )
        is_plain = bool(_PLAIN.fullmatch(last) or is_german)
        if is_plain or _LIKELY.fullmatch(last):
            yield taken[:-1], taken[-1], is_plain and all(map(_LIST.fullmatch, joints))
    if _BACKWARDS.fullmatch(between[0]) and all(map(_JOINT.fullmatch, between[1:])):
        yield taken[1:], taken[0], False


def _claim(reading: Reading) -> str:
    return reading.example.test.removeprefix("assert ")


def _quote(text: str, values: Sequence[TextValue], first: int, last: int) -> str:
    """The clause around the values of an example, from behind the value before it."""
    start, end = values[first].start, values[last].end
    begin = max(start - NEAR, values[first - 1].end if first else 0)
    pauses = [match.end() for match in _PAUSE.finditer(text, begin, start)]
    after = _END.search(text, end)
    stop = after.start() if after and after.start() - end <= NEAR else end
    return text[pauses[-1] if pauses else begin : stop].strip(" \t\n,;:.`")
