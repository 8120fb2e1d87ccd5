"""`reflect`: the published agent that fixes Python functions, rebuilt to behave alike, and frozen.

Its rule: never tuned. A change here is a change of the yardstick. Where it comes from: docs/strategies.md. Its prompts
are in our words: the same parts, with the same content, in the same order. The parts are what was measured, so a
missing one (docstring, tests) leaves its heading and an empty block.
"""

import ast
import re
import textwrap
from collections.abc import Generator, Iterator, Sequence

from burnish.agent.ask import Tools, ask
from burnish.checks import grade_script
from burnish.evals.schema import Plan
from burnish.evals.strategies.baselines import seed_for_call
from burnish.evals.strategies.strategy import Puzzle
from burnish.events import Answered, CodeProposed, Decided, Event, Graded, Message, Stopped, TestsRan
from burnish.models.model import Ask
from burnish.parsing import try_parse
from burnish.tasks.assemble import assemble
from burnish.tasks.sentence import find_kinds

MOST_TOKENS = 512
TOP_K, MIN_P, REPETITION_PENALTY = 20, 0.0, 1.1
"""The published pipeline set neither of these, so the model's own generation settings held, for the greedy draft too:
Qwen2.5-Coder ships top_k 20 and a repetition penalty of 1.1. There is no min_p in them."""
VERSION = "reflect-1"
MOST_LINES = 6
"""Of an error summary."""
TIMED_OUT = "None\nTIMEOUT"
"""All that the published executor says of a run that it had to end: nothing was captured, and it says so."""
_CODE_BLOCK = re.compile(r"(?is)```python(?P<code>.*?)```")

SYSTEM = """\
You are an experienced Python developer. Your job is to repair a buggy function so that the tests shown to you pass.

Rules:
- Most bugs are *tiny*: repair them with the smallest change that works.
- Leave structure, variable names and style just as they are in the original.
- Add no comments and no explanations.
- Write the whole repaired function definition in one Python code block, like this:
```python
def ...
```"""

REPEAT = (
    "This is the same implementation that you gave before. It still fails the same test. "
    "Try once more, in a different way."
)

SYNTAX = """\
Your last code has a syntax error and could not be run.
Write a corrected version of the function that is valid Python and keeps the same logic.
Give the whole function in one Python code block."""

_DRAFT = """\
Repair the buggy function so that it passes the tests below and does what its docstring says.
Take the bug to be *minor*: a small correction is all that is needed.

Buggy implementation:
```python
{buggy}
```

Docstring:
'''{docstring}'''

Tests:
```python
{tests}
```

Answer with the whole corrected function in one Python code block.
Keep your changes minimal and aimed at this one problem.
```"""

_REFLECT = """\
Your last implementation fails the tests.

Keep in mind: the *original* bug was probably very small, but your last repair may have brought needless complexity \
or new problems.
Make the function simpler and aim for a minimal, correct repair.

{assertion}
{error}

Guidelines:
- Work out what went wrong in your last attempt.
- Repair it so that both the tests and the docstring are satisfied.
- Keep the function clean and minimal: no overcomplicating, no refactoring.
- Keep the function's name, its parameters and its general structure.

Docstring:
'''{docstring}'''

Answer with the whole corrected function in one Python code block."""


class Reflect:
    """Draft once, then reflect on the failing assertion until the tests pass. The last answer counts, good or bad."""

    name = "reflect"
    timeout_seconds = 6.0

    def calls(self, plan: Plan) -> int:
        """The draft, and one for each iteration."""
        return plan.rounds + 1

    def solve(self, puzzle: Puzzle, plan: Plan, seed: int, tools: Tools) -> Iterator[Event]:
        """Ask, then run what is Python and new; a repair of either costs an iteration too, and is asked for as such."""
        by, text = "draft", draft_prompt(puzzle)
        messages: tuple[Message, ...] = (Message(role="system", content=SYSTEM),)
        earlier: set[str] = set()
        for iteration in range(plan.rounds + 1):
            call = iteration + 1
            messages = (*messages, Message(role="user", content=text))
            question = _question(by, messages, iteration, seed_for_call(seed, call))
            reply = yield from ask(tools, f"{by}-{call}", question, VERSION)
            if reply is None:
                return
            code = extract_function(reply.text, puzzle.task.entry_point)
            yield CodeProposed(
                version=call,
                code=assemble(puzzle.task, code) if code else extract_source(reply.text),
                by=by,
                ask_id=reply.ask_id,
                problem="" if code else f"the answer holds no Python that defines {puzzle.task.entry_point}",
            )
            yield Answered(call=call, round=iteration, version=call if code else None)
            # Only the function stays in the chat.
            kept = f"```python\n{code or '<NO VALID CODE>'}\n```"
            messages = (*messages, Message(role="assistant", content=kept))
            if code is None:
                by, text = "syntax", SYNTAX
            elif code.strip() in earlier:
                by, text = "repeat", REPEAT
            else:
                earlier.add(code.strip())
                failed = yield from _run_tests(puzzle, tools, code, call)
                if failed is None:
                    return
                by, text = "reflect", reflect_prompt(puzzle, failed)
        yield Stopped(reason="rounds", why=f"the limit of {plan.rounds} iterations is reached")


def _question(by: str, messages: Sequence[Message], iteration: int, seed: int) -> Ask:
    """What is asked; after the greedy draft the question is warmer and wider with each iteration."""
    return Ask(
        purpose=by,
        messages=tuple(messages),
        temperature=round(min(0.25 + 0.2 * (iteration - 1), 0.9), 3) if iteration else 0.0,
        top_p=round(min(0.9 + 0.03 * (iteration - 1), 0.98), 3) if iteration else 1.0,
        max_tokens=MOST_TOKENS,
        seed=seed,
        top_k=TOP_K,
        min_p=MIN_P,
        repetition_penalty=REPETITION_PENALTY,
    )


def _run_tests(puzzle: Puzzle, tools: Tools, code: str, version: int) -> Generator[Event, None, Graded | None]:
    """Run an answer under the module's own imports and helpers. None when it is final: it passes, or nothing tests."""
    if not puzzle.tests.strip():
        yield Decided(choice="take", reason="No test may be seen, so there is nothing to reflect on.")
        yield Stopped(reason="done", why="no test may be seen")
        return None
    module, kinds = assemble(puzzle.task, code), find_kinds(puzzle.task)
    graded = grade_script(module, puzzle.tests, tools.sandbox, puzzle.timeout_seconds, kinds)
    yield TestsRan(version=version, graded=graded)
    if graded.all_passed:
        yield Stopped(reason="done", why=f"version {version} passes the tests")
        return None
    return graded


def draft_prompt(puzzle: Puzzle) -> str:
    """The first question. The lone fence at its end stands in the published prompt too."""
    return _DRAFT.format(buggy=show_code(puzzle), docstring=puzzle.task.prompt, tests=puzzle.tests.strip())


def reflect_prompt(puzzle: Puzzle, graded: Graded) -> str:
    """The question after a failed run: the first assertion that failed, or the end of the error where none did."""
    output = describe_failure(graded)
    assertion = find_assertion(output, puzzle.tests)
    failed = f"Failed assertion:\n```\n{assertion}\n```\n" if assertion else ""
    summary = "" if assertion else f"Error summary:\n```\n{summarise_error(output)}\n```\n"
    return _REFLECT.format(assertion=failed, error=summary, docstring=puzzle.task.prompt)


def show_code(puzzle: Puzzle) -> str:
    """The code to repair, or the stub to complete where there is none.

    The function's body is shown four spaces deeper than it is: the published agent indents a body that is indented
    already. It is what its numbers were measured with.
    """
    task = puzzle.task
    if not task.base_code:
        above = f"{task.prelude.strip()}\n\n\n" if task.prelude.strip() else ""
        words = "\n    ".join(task.prompt.strip().replace('"""', "'''").splitlines())
        return f'{above}def {task.signature or f"{task.entry_point}(...)"}:\n    """{words}\n    """'
    tree = try_parse(task.base_code)
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef)] if tree else []
    node = next((node for node in found if node.name == task.entry_point), None)
    if node is None:
        return task.base_code
    lines = task.base_code.splitlines(keepends=True)
    # The body begins below the first line at which the header alone would parse.
    ends = range(node.lineno, node.body[0].lineno + 1)
    headers = (end for end in ends if try_parse("".join(lines[node.lineno - 1 : end]).rstrip() + "\n    pass"))
    first, last = next(headers, node.body[0].lineno - 1), node.end_lineno
    return "".join(lines[:first]) + textwrap.indent("".join(lines[first:last]), "    ") + "".join(lines[last:])


def extract_source(answer: str) -> str:
    """The first ```python block, or the whole answer where there is none."""
    block = _CODE_BLOCK.search(answer)
    return block["code"].strip() if block else answer


def extract_function(answer: str, name: str) -> str | None:
    """The one function asked for, without its imports and helpers; None when the answer has no such function."""
    source = extract_source(answer)
    tree = try_parse(source)
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name] if tree else []
    return "\n".join(source.splitlines()[found[0].lineno - 1 : found[0].end_lineno]) if found else None


def describe_failure(graded: Graded) -> str:
    """What the failing run would have printed: of the first failing test, or of the code that cannot be loaded."""
    first = next((case for case in graded.cases if case.outcome != "passed"), None)
    if graded.timed_out and (first is None or first.how == "timed_out"):
        return TIMED_OUT
    return first.message if first and first.message else graded.problem


def find_assertion(output: str, tests: str) -> str | None:
    """The first line that begins at "assert"; one that the sandbox shortened is found again in the tests."""
    match = re.search(r"assert.+", output)
    if not match:
        return None
    head, shortened, tail = match[0].strip().partition(" … ")
    whole = (line.strip() for line in tests.splitlines() if shortened)
    return next((line for line in whole if line.startswith(head) and line.endswith(tail)), match[0].strip())


def summarise_error(output: str) -> str:
    """The last lines of what was said."""
    return "\n".join([line for line in output.splitlines() if line.strip()][-MOST_LINES:])
