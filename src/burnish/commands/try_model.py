"""`burnish models doctor`: is a model good enough, for what, how fast, and what is the one thing to change?

It is asked within limits, in the words that `write` and `fix` use, and its code runs where all generated code does.
What it said stays on record, so that its speed is known from then on.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from statistics import median

from pydantic import Field

from burnish.agent import limits, prompts
from burnish.agent.answer.code import read_answer
from burnish.agent.ask import Tools, ask
from burnish.agent.context_budget import MOST_CHARACTERS
from burnish.agent.limits import Limits
from burnish.agent.nodes.write_tests import extract_tests
from burnish.checks.tests import grade_script
from burnish.errors import ModelError, PromptTooLong, SetupProblem
from burnish.events import (
    CheckFinished,
    Event,
    Evidence,
    Frozen,
    Message,
    ModelChunk,
    ModelReplied,
    ModelThought,
    Outcome,
    SpecAgreed,
    Stopped,
)
from burnish.json_schema import NotBySchema, freeze_schema, read_by_schema
from burnish.model_choice import TRIALS, measure_speed
from burnish.models.model import Ask, Model
from burnish.models.providers import find_server
from burnish.models.tokens import fewest_prompt_tokens, look_up_context, price_of
from burnish.paths import home
from burnish.runs import Store, Watch
from burnish.runs.attempt import Resources, start
from burnish.runs.record import Emitter
from burnish.runs.request import Request
from burnish.sandbox import Sandbox, open_sandbox
from burnish.tasks.sentence import from_sentence
from burnish.tasks.task import Task
from burnish.text import one_line, strip_controls

VERB = "models doctor"
UNASKED_DOLLARS = 0.05
"""What may be spent without being asked for."""
KNOWN_CONTEXT = 16_384
"""A cloud that is known to have this much context need not be paid to show it."""
EMBEDDED = ("local:", "huggingface:")
LIMITS = Limits(calls=8, tokens=200_000, seconds=900)
TASK_SECONDS = 120.0
MOST_SILENT = 2
"""Tasks in a row of which not a word comes, before the others are not even asked; the first may have to load."""
JSON_QUESTION = (
    "Ada is 36 years old and lives in London. Answer with one JSON object that has the keys name, age and city,"
    " and with nothing else."
)
PERSON = freeze_schema(
    {
        "type": "object",
        "properties": {"name": {"type": "string"}, "age": {"type": "integer"}, "city": {"type": "string"}},
        "required": ["name", "age", "city"],
        "additionalProperties": False,
    }
)
"""What that answer must be; asked for as every later answer that is read by a program will be."""
STOP_QUESTION = "Count from 1 to 5, one number on each line. Write nothing else, and stop after 5."
MARKER = "heron-4917"
"""Stands at the beginning of a long prompt, and must come back."""
NEEDS = {"write": ("write", "stop"), "fix": ("fix", "stop"), "tests": ("form", "stop"), "JSON": ("JSON", "stop")}
"""What a model is good for, and the tasks that it must have passed: a model that does not stop is good for nothing."""
TEMPLATE = re.compile(
    r"<[|｜][^|｜<>\n]{1,40}[|｜]>|\[/?INST\]|<</?SYS>>|</?s>|<(?:start|end)_of_turn>|^#{2,} (?:Instruction|Response)\b"
    r"|\[/?(?:SYSTEM_PROMPT|AVAILABLE_TOOLS)\]|^(?:#+ ?)?(?:\*\*)?(?:User|Human|USER|HUMAN|Question)(?:\*\*)?:",
    re.MULTILINE,
)
"""What chat templates put between turns, and how an answer goes on that speaks for the user; none belongs there."""


class ModelFault(StrEnum):
    """What is wrong with how a model is set up."""

    TEMPLATE_LEAKS = "template_leaks"
    CONTEXT_TOO_SMALL = "context_too_small"
    ONLY_THOUGHTS = "only_thoughts"
    DOES_NOT_STOP = "does_not_stop"


ADVICE = {
    ModelFault.TEMPLATE_LEAKS: "The chat template is missing or wrong. Take instruct weights, with their own"
    " template: llama-server --jinja, vllm --chat-template FILE, TEMPLATE in an Ollama Modelfile.",
    ModelFault.CONTEXT_TOO_SMALL: "The context is too small: a prompt of {tokens:,} tokens is not read. Give it 8,192:"
    " burnish config set context.{name} 8192 for an Ollama, llama-server -c 16384 -np 2 (its slots share them), vllm"
    " --max-model-len 8192; or take a model that has more.",
    ModelFault.ONLY_THOUGHTS: "Its thoughts take all the tokens, and no answer is left. Give it more:"
    " burnish config set models.{provider}.thinking 4096",
    ModelFault.DOES_NOT_STOP: "It does not stop when it is done: the token that ends a turn is not set, or the weights"
    " were not made for chat. Take the instruct version of this model.",
}


class TaskAnswer(Frozen):
    """One task, and what came of it."""

    name: str
    passed: bool = False
    why: str = ""
    """What is wrong; empty where nothing is."""
    too_long: bool = False
    """Whether its prompt was refused as too long."""
    text: str = Field(default="", exclude=True)
    thoughts: str = Field(default="", exclude=True)
    ended: str = ""
    """"stop", "length"; empty where there was no answer."""
    seconds: float = 0.0
    first_token_seconds: float | None = None
    pieces: int = 0
    """In how many parts the answer came."""
    tokens_in: int = 0
    tokens_out: int = 0
    dollars: float | None = None


class ModelTrial(Frozen):
    """What came of all tasks; `--json` prints it."""

    model: str
    changes: tuple[str, ...] = ()
    """What to change, in one sentence; empty where nothing was found."""
    fault: ModelFault | None = None
    tokens_per_second: float | None = None
    """None where no answer was long enough to tell."""
    dollars: float | None = None
    """What it cost; None where a price is unknown."""
    was_heard: bool
    """Whether it said anything at all; if not, nothing is known of it."""
    is_enough: bool
    """Whether `write` would work with it."""
    good_for: tuple[str, ...]
    not_for: tuple[str, ...]
    """What an answer shows that it cannot."""
    untried: tuple[str, ...]
    """Of what it is not known, since a task was not answered to its end."""
    line: str
    """All of it in one line."""
    first_token_seconds: float | None
    """How long it usually takes until an answer begins; the first one, for which it may have to load, aside."""
    tasks: tuple[TaskAnswer, ...]


@dataclass(frozen=True)
class ModelTask:
    """One question, and a function that says what is wrong with an answer; nothing where it is good."""

    name: str
    ask: Ask
    judge: Callable[[ModelReplied, Sandbox], str]


def try_model(
    model: Model,
    *,
    dollars: float | None = None,
    unpriced: bool = False,
    sandbox: str = "auto",
    watch: Watch | None = None,
) -> ModelTrial:
    """Put the tasks to the model; `watch` gets every event, a CheckFinished at the end of each task.

    Raises SetupProblem before the first word where it may cost more than `dollars`, or more than a few cents where
    no cap is given; where the price is unknown, unless `unpriced` allows that; and where only the user can make the
    model answer at all.
    """
    caps = check_cost(model, dollars, unpriced)
    answers: list[TaskAnswer] = []
    spent = 0.0

    def put_tasks(tools: Tools, emitter: Emitter) -> Iterator[Event]:
        nonlocal spent
        if model.name.startswith(EMBEDDED):  # it loads meanwhile, and no task is timed with that
            with suppress(ModelError):
                for event in ask(tools, "hello", _make_ask("hello", "Say hello.", 4)):
                    emitter.tell(event)
        silent = 0
        for task in list_tasks(model.name):
            answer = TaskAnswer(name=task.name, why="not asked: to those before it came no answer")
            if silent < MOST_SILENT:
                answer = _answer_task(task, tools, emitter.tell)
                silent = 0 if answer.pieces or answer.ended or answer.too_long else silent + 1
            answers.append(answer)
            verdict: Outcome = "passed" if answer.passed else "failed" if answer.ended else "not_run"
            figure = f"{answer.seconds:.1f} s, {answer.tokens_out} tokens" if answer.ended else ""
            evidence = Evidence(check=task.name, verdict=verdict, why=answer.why, figure=figure)
            emitter.tell(CheckFinished(evidence=evidence))
        emitter.tell(Stopped(reason="done"))
        spent = tools.meter.dollars
        yield from ()

    request = Request(task=Task(id=model.name, prompt="five tiny tasks"), verb=VERB, limits=caps)
    with open_sandbox(sandbox, cells=1) as box:
        resources = Resources([model], Store(home() / TRIALS), watch, sandbox=box)
        run = start(request, resources, put_tasks).wait()
    speed = measure_speed(model.name, run.all(ModelReplied))
    cost = spent if price_of(model.name) else None
    return summarise(model.name, answers, speed.tokens_per_second if speed else None, cost)


def summarise(
    name: str, answers: Sequence[TaskAnswer], tokens_per_second: float | None, dollars: float | None
) -> ModelTrial:
    """What the answers say of the model."""
    passed = {answer.name for answer in answers if answer.passed}
    wrong = {answer.name for answer in answers if answer.ended and not answer.passed}
    good_for = tuple(use for use, needs in NEEDS.items() if passed.issuperset(needs))
    not_for = tuple(use for use, needs in NEEDS.items() if wrong.intersection(needs))
    untried = tuple(use for use in NEEDS if use not in (*good_for, *not_for))
    was_heard = any(answer.ended or answer.tokens_out for answer in answers)
    waits = [answer.first_token_seconds for answer in answers[1:] if answer.first_token_seconds is not None]
    fault, uses = find_fault(answers), {"good enough for": good_for, "not for": not_for, "not tried:": untried}
    facts = [f"{words} {', '.join(them)}" for words, them in uses.items() if them]
    facts += [f"{tokens_per_second:.1f} tokens/s"] if tokens_per_second else []
    facts += [f"first token after {median(waits):.1f} s"] if waits else []
    if not was_heard:
        facts = [f"could not be tried: {next((answer.why for answer in answers if answer.why), 'no answer')}"]
    tokens, provider = fewest_prompt_tokens(_make_long_prompt().ask), name.partition(":")[0]
    return ModelTrial(
        model=name,
        changes=(ADVICE[fault].format(name=name, provider=provider, tokens=tokens),) if fault else (),
        fault=fault,
        tokens_per_second=tokens_per_second,
        dollars=dollars,
        was_heard=was_heard,
        is_enough="write" in good_for,
        good_for=good_for,
        not_for=not_for,
        untried=untried,
        line=f"{name}: {'; '.join(facts)}.",
        first_token_seconds=median(waits) if waits else None,
        tasks=tuple(answers),
    )


def find_fault(answers: Sequence[TaskAnswer]) -> ModelFault | None:
    """The first thing to change, as the answers show it."""
    if any(TEMPLATE.search(answer.text) for answer in answers):
        return ModelFault.TEMPLATE_LEAKS
    # A server that cuts a prompt counts fewer tokens than it must have; such a count was raised to the fewest there
    # can be. One that read all of it and lost the marker has room enough: it is the model that forgets.
    fewest = fewest_prompt_tokens(_make_long_prompt().ask)
    lost = [one for one in answers if one.name == "context" and one.ended and not one.passed]
    if any(answer.too_long for answer in answers) or any(answer.tokens_in <= fewest for answer in lost):
        return ModelFault.CONTEXT_TOO_SMALL
    cut = [answer for answer in answers if answer.ended == "length"]
    if any(answer.thoughts and not answer.text.strip() for answer in cut):
        return ModelFault.ONLY_THOUGHTS
    if len(cut) > 1 or any(answer.name == "stop" for answer in cut):
        return ModelFault.DOES_NOT_STOP
    return None


def estimate_cost(model: Model) -> tuple[int, float | None]:
    """Tokens and dollars that the tasks may take at most, thoughts included; None where the price is unknown."""
    thinking = getattr(model, "thinking", 0)
    asks = [task.ask.model_copy(update={"thinking": thinking}) for task in list_tasks(model.name)]
    dollars = sum(limits.most_dollars(one, model.name) or 0.0 for one in asks) if price_of(model.name) else None
    return sum(map(limits.most_tokens, asks)), dollars


def check_cost(model: Model, dollars: float | None, unpriced: bool = False) -> Limits:
    """The limits of the trial. Raises SetupProblem where it may cost more than allowed."""
    tokens, most = estimate_cost(model)
    allowed = UNASKED_DOLLARS if dollars is None else dollars
    again = f"If that is fine, type: burnish models doctor {model.name}"
    if most is not None and most > allowed:
        raise SetupProblem(
            f"To try {model.name!r} may cost up to {most:.2f} dollars, more than {allowed:g} dollars. {again} --dollars"
            f" {most + 0.005:.2f}"
        )
    if most is None and (dollars is not None or not unpriced):
        cap = "" if dollars is None else f", so a cap of {dollars:g} dollars cannot be kept"
        raise SetupProblem(
            f"The price of {model.name!r} is not known{cap}. To try it takes up to {tokens:,} tokens. {again}"
            " --unpriced"
        )
    return LIMITS.model_copy(update={"tokens": tokens} if most is None else {"dollars": dollars})


def _answer_task(task: ModelTask, tools: Tools, tell: Watch) -> TaskAnswer:
    """Ask, listen and judge."""
    heard: list[Event] = []
    why, too_long = "", False
    try:
        with tools.meter.within(TASK_SECONDS):
            for event in ask(tools, task.name, task.ask):
                heard.append(event)
                tell(event)
    except ModelError as error:
        why, too_long = one_line(str(error), 200), isinstance(error, PromptTooLong)
    first = next((event.at - heard[0].at for event in heard if isinstance(event, ModelChunk | ModelThought)), None)
    pieces = sum(isinstance(event, ModelChunk | ModelThought) for event in heard)
    last = heard[-1] if heard else None
    if isinstance(last, Stopped):
        why = f"no whole answer came in {TASK_SECONDS:g} s" if last.reason == "seconds" else last.why
    if why or not isinstance(last, ModelReplied):
        return TaskAnswer(name=task.name, why=why or "no answer came", too_long=too_long, pieces=pieces)
    why = task.judge(last, tools.sandbox)
    return TaskAnswer(
        name=task.name,
        passed=not why,
        why=why,
        thoughts="".join(event.text for event in heard if isinstance(event, ModelThought)),
        first_token_seconds=first,
        pieces=sum(isinstance(event, ModelChunk) for event in heard),
        **last.model_dump(include={"text", "ended", "seconds", "tokens_in", "tokens_out", "dollars"}),
    )


VOWELS = "count_vowels(text) counts the vowels (aeiou) in a text, capital letters too, e.g. count_vowels('Hello') == 2"
VOWEL_TESTS = """from solution import count_vowels
def test_count_vowels():
    assert count_vowels("Hello") == 2
    assert count_vowels("AEIOU xyz") == 5
    assert count_vowels("") == 0
"""
BROKEN = '''def smallest(numbers):
    """Return the smallest of the numbers."""
    result = numbers[0]
    for number in numbers:
        if number > result:
            result = number
    return result
'''
SMALLEST_TESTS = """from solution import smallest
def test_smallest():
    assert smallest([3, 1, 2]) == 1
    assert smallest([5]) == 5
    assert smallest([0, -4, 7]) == -4
"""


def list_tasks(name: str) -> tuple[ModelTask, ...]:
    """The five tasks; before them a long prompt where a server may have too little room for it, and not say so.

    An embedded engine has the room that we give it, and refuses what is too long.
    """
    server = find_server(name)
    has_room = name.startswith(EMBEDDED) or (server and server.is_official and look_up_context(name) >= KNOWN_CONTEXT)
    vowels = from_sentence(VOWELS)
    smallest = from_sentence("smallest(numbers) returns the smallest of the numbers, e.g. smallest([3, 1, 2]) == 1")
    smallest = smallest.model_copy(update={"base_code": BROKEN, "broken": True})
    failure = "smallest([3, 1, 2]) == 1 is expected, but it is 3"
    tests = Ask(purpose="form", messages=prompts.tests(vowels, vowels.signature, vowels.visible_tests), max_tokens=320)
    return (
        *(() if has_room else (_make_long_prompt(),)),
        _make_code_task("write", vowels, prompts.write, VOWEL_TESTS),
        _make_code_task("fix", smallest, lambda wanted: prompts.repair(wanted, BROKEN, failure), SMALLEST_TESTS),
        ModelTask("JSON", _make_ask("JSON", JSON_QUESTION, 96, PERSON), judge_json),
        ModelTask("form", tests, judge_tests),
        ModelTask("stop", _make_ask("stop", STOP_QUESTION, 64), judge_stop),
    )


def _make_long_prompt() -> ModelTask:
    """As long a prompt as Burnish ever makes, of short words that every tokenizer knows."""
    above = f"The password is {MARKER}. Remember it.\n"
    below = "\nWhat is the password in the very first line? Answer with the password only."
    room = MOST_CHARACTERS - len(above) - len(below) - len(prompts.SYSTEM)
    filling = ("He is big and she is old. It is red. I am on top of it now. " * room)[:room]
    missing = "the beginning of a long prompt does not come back"
    question = _make_ask("context", above + filling + below, 32)
    return ModelTask("context", question, lambda reply, _: "" if MARKER in reply.text else missing)


def _make_ask(purpose: str, text: str, most_tokens: int, schema: str = "") -> Ask:
    messages = (Message(role="system", content=prompts.SYSTEM), Message(role="user", content=text))
    return Ask(purpose=purpose, messages=messages, max_tokens=most_tokens, json_schema=schema)


def _make_code_task(
    name: str, task: Task, prompt: Callable[[prompts.PromptInput], prompts.Messages], tests: str
) -> ModelTask:
    """A task whose code is run. An answer that was begun for the model is read with its beginning."""
    spec = SpecAgreed(entry_point=task.entry_point, signature=task.signature, given_tests=task.visible_tests)
    messages = prompt(prompts.PromptInput(task=task, spec=spec))
    begun = messages[-1].content if messages[-1].role == "assistant" else ""

    def judge(reply: ModelReplied, box: Sandbox) -> str:
        goes_on = begun and f"def {task.entry_point}(" not in reply.text
        for text in [begun + reply.text, reply.text] if goes_on else [reply.text]:
            found = read_answer(
                text, task.entry_point, signature=task.signature, base=task.base_code, ended=reply.ended
            )
            if not found.problem:
                graded = grade_script(found.code, tests, box, timeout_seconds=10.0)
                failed = next((case.message or case.name for case in graded.cases if case.outcome != "passed"), "")
                return "" if graded.all_passed else f"the code is wrong: {one_line(graded.problem or failed, 120)}"
        return found.problem

    return ModelTask(name, Ask(purpose=name, messages=messages, max_tokens=512), judge)


def judge_json(reply: ModelReplied, _: Sandbox) -> str:
    """The answer must be the JSON object and nothing else; a fence around it is forgiven."""
    try:
        right = read_by_schema(PERSON, reply.text, reply.ended) == {"name": "Ada", "age": 36, "city": "London"}
    except NotBySchema:
        right = False
    return "" if right else "the answer is not the JSON that was asked for, or not JSON alone"


def judge_tests(reply: ModelReplied, _: Sandbox) -> str:
    """At least three asserts must be found in the answer."""
    tests = extract_tests(reply.text, "count_vowels")[0]
    return "" if len(tests) >= 3 else "the answer does not hold the tests that were asked for"


def judge_stop(reply: ModelReplied, _: Sandbox) -> str:
    """The answer must be the five numbers, ended by the model itself."""
    words = re.findall(r"\w+", strip_controls(reply.text))
    right = reply.ended != "length" and words == ["1", "2", "3", "4", "5"]
    return "" if right else "the answer does not end after what was asked for, or is another"
