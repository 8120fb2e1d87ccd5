"""refine: a round for each check that finds something: security, then performance, then quality.

A round is `ruff --fix`, then one question to the model about what is left. Whether a result is kept, the gate decides
(agent/refine_gate.py).
"""

import subprocess
import sys
import time
from collections.abc import Generator, Iterator
from itertools import chain

from burnish.agent import prompts
from burnish.agent.answer.code import add_missing_imports
from burnish.agent.ask import Tools, drop_limits
from burnish.agent.context_budget import function_head
from burnish.agent.nodes.draft import prompt_input, propose
from burnish.agent.nodes.run import hash_basis
from burnish.agent.refine_gate import Gate, GateResult, describe_findings, find_objection, needs_question
from burnish.agent.state import REFINE, USER, AgentState
from burnish.checks.quality.check import IGNORE, SELECT, TARGET
from burnish.events import CodeProposed, Decided, Event, Evidence, Graded, Move, Notice, Refined, TestsRan
from burnish.events.history import Version
from burnish.parsing import try_parse
from burnish.text import one_line

TEMPERATURE = 0.0
TEMPERATURES_ON_RECORD = (TEMPERATURE, 0.7)
"""Earlier runs asked up to two questions in a round."""
RUFF_SECONDS = 20.0
RUFF = (
    *("check", "--fix", "--isolated", "--no-cache", "--ignore-noqa", "--quiet", "--exit-zero"),
    *("--target-version", TARGET, "--line-length", "120"),
    *("--select", ",".join(SELECT), "--ignore", ",".join(IGNORE), "--stdin-filename", "solution.py", "-"),
)


def refine(state: AgentState, tools: Tools) -> Iterator[Event]:
    """Keep what is better by that check's figure, loses no test, and makes no other check worse.

    A limit ends these rounds and not the run: what passes its tests is there already. What a person wrote with their
    own hands is left as it is.
    """
    if REFINE not in tools.afterwards or tools.checks is None or state.stopped or not state.best_passes:
        return
    for check, step in STEPS:
        if check not in tools.checks.names or tools.cancel.is_set() or state.best is None or state.best.by == USER:
            continue
        gate, happened = Gate(state, tools, tools.checks), list[Event]()
        if recorded := tools.replay.take(Refined, check=check, base=gate.base.number):
            events = _repeat(state, tools, recorded)
        elif any((done.check, done.base) == (check, gate.base.number) for done in state.run.all(Refined)):
            continue
        else:
            events = step(check, state, tools, gate)
        for event in events:
            happened += [event] if event.lasting else []
            yield event
        state = state.after(happened)


def _fix(check: str, state: AgentState, tools: Tools, gate: Gate) -> Iterator[Event]:
    """What ruff makes of the best version, if the gate keeps it; else the question follows as if nothing was tried."""
    base, started = gate.base, time.monotonic()
    # ruff only reads the text, so it runs outside of the sandbox.
    fixed = "" if tools.meter.over else fix_with_ruff(base.code)
    if not fixed or fixed == base.code:
        return
    result = gate.judge(check, fixed)
    if tools.cancel.is_set() or result.objection:
        return
    before = gate.measure(check, base.code)
    yield _begin(check, tools, before, base.code)
    made = CodeProposed(version=state.next_version, code=fixed, by=REFINE, round=state.round, base=base.number)
    yield made
    yield _tests_ran(state, made, result.graded)
    yield _finish(before, made, result, "ruff fixed it", started)


def _ask(check: str, state: AgentState, tools: Tools, gate: Gate) -> Iterator[Event]:
    """Where the check calls for it, ask the model for the same without what was found."""
    base, started = gate.base, time.monotonic()
    left_out = Refined(check=check, base=base.number, version=None, kept=False, before="")
    if over := tools.meter.over:
        yield left_out.model_copy(update={"why": f"left out: {over.why}"})
        return
    yield Notice(text=f"looking at {check}")
    before = gate.measure(check, base.code)
    if tools.cancel.is_set() or not needs_question(before):
        return
    opened = _begin(check, tools, before, base.code)
    yield opened
    limits: list[str] = []  # what passes its tests is there already, so a limit does not end the run
    asking = _question(state, tools, base, state.next_version, TEMPERATURE, opened.finding)
    made = yield from drop_limits(asking, limits)
    if tools.cancel.is_set():
        return
    if made is None:
        why = f"left out: {limits[-1]}" if limits else "the model did not answer"
        yield left_out.model_copy(update={"before": _figure(before), "why": why})
        return
    result = GateResult(objection=one_line(made.problem, 160), graded=Graded())
    if not made.problem:
        result = gate.judge(check, made.code)
        yield _tests_ran(state, made, result.graded)
    if not tools.cancel.is_set():
        yield _finish(before, made, result, "the model wrote it again", started)


STEPS = (("security", _ask), ("performance", _ask), ("quality", _fix), ("quality", _ask))
"""The rounds in their order. ruff has no safe fix for what the first two find."""


def _begin(check: str, tools: Tools, before: Evidence, code: str) -> Decided:
    """Why there is a round; as it is on record, if it is, so that the same question is asked."""
    finding = describe_findings(before, code)
    decided = Decided(choice=REFINE, reason=f"A round for {check}: {finding}", check=check, finding=finding)
    return tools.replay.take(Decided, choice=REFINE, check=check) or decided


def _finish(before: Evidence, made: CodeProposed, result: GateResult, how: str, started: float) -> Refined:
    assert made.base is not None
    return Refined(
        check=before.check,
        base=made.base,
        version=made.version,
        kept=not result.objection,
        before=_figure(before),
        after=result.after,
        why=result.objection or f"{how}; every test passes and nothing else is worse",
        seconds=time.monotonic() - started,
    )


def _figure(evidence: Evidence) -> str:
    return evidence.figure or one_line(evidence.why, 120)


def _question(
    state: AgentState, tools: Tools, base: Version, number: int, temperature: float, finding: str
) -> Generator[Event, None, CodeProposed | None]:
    """One question. What the answer leaves out of the function's head and docstring is put back."""
    move = Move(kind=REFINE, version=number, round=state.round, temperature=temperature, base=base.number)
    made = None
    for event in propose(state, tools, move, prompts.refine(prompt_input(state, tools), base.code, finding)):
        if isinstance(event, CodeProposed):
            code = event.code if event.problem else restore_head(base.code, event.code, state.spec.entry_point)
            event = made = event.model_copy(update={"code": code})
        yield event
    return made


def _tests_ran(state: AgentState, made: CodeProposed, graded: Graded) -> TestsRan:
    version = Version(number=made.version, code=made.code, by=REFINE)
    return TestsRan(version=made.version, graded=graded, basis=hash_basis(version, state.suite))


def _repeat(state: AgentState, tools: Tools, recorded: Refined) -> Iterator[Event]:
    """A round that is on record, as it was; its answers are counted again, and nothing is measured.

    A version without a question was made by ruff, or in earlier runs by a rewriter. Versions after the one that the
    round ended with belong to the next round.
    """
    opened, base = tools.replay.take(Decided, choice=REFINE, check=recorded.check), state.version(recorded.base)
    yield from [opened] if opened else []
    made = tools.replay.take(CodeProposed, version=recorded.version, by=REFINE, ask_id="") if recorded.kept else None
    questions = (
        _question(state, tools, base, number, temperature, opened.finding if opened else "")
        for number, temperature in enumerate(TEMPERATURES_ON_RECORD, state.next_version)
        if number <= (recorded.version or 0) and tools.replay.changed(f"{REFINE}-{number}")
    )
    for event in chain([made] if made else [], *questions):
        yield event
        if isinstance(event, CodeProposed):
            ran = _tests_ran(state, event, Graded())
            graded = tools.replay.graded(event.version, ran.basis)
            yield from [ran.model_copy(update={"graded": graded})] if graded else []
    yield recorded


def fix_with_ruff(code: str) -> str:
    """The code after those fixes that ruff calls safe; empty where ruff could not be run."""
    command = [sys.executable, "-I", "-m", "ruff", *RUFF]
    try:
        done = subprocess.run(command, input=code, capture_output=True, text=True, timeout=RUFF_SECONDS, cwd="/")
    except (OSError, subprocess.TimeoutExpired, UnicodeError):
        return ""
    return done.stdout.lstrip("\n") if done.returncode == 0 else ""  # where imports went, their gap stays


def restore_head(before: str, after: str, name: str) -> str:
    """The code with the first lines that the function had: types and docstring, which small models leave out.

    Where the parameters are others, or that would be no Python, the code as it is.
    """
    old, new = function_head(before, name), function_head(after, name)
    if not old or not new or old == new or after.count(new) != 1 or find_objection(before, after):
        return after
    text = add_missing_imports(after.replace(new, old))
    return text if try_parse(text) is not None and not find_objection(before, text) else after
