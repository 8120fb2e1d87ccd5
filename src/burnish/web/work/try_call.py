"""A function that came out of a run, called with a person's own arguments, in a sandbox that stays open for the next.

Arguments are plain values as Python writes them, and nothing in them is ever evaluated. What the call gives is said by
the process that ran the code: it shows what the code does, and proves nothing.
"""

import ast
import json
import secrets
import threading
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Literal, NamedTuple

from burnish.errors import SetupProblem
from burnish.events import Frozen, PackagesAdded
from burnish.events.history import Run
from burnish.packages.layer import list_recorded_packages, prepare_recorded_layer
from burnish.parsing import PARSE_ERRORS, parse_expression, try_parse
from burnish.sandbox import open_sandbox
from burnish.sandbox.box import Box
from burnish.search.seed_calls import seeds_from_tests

SECONDS = 1.0
"""Of the processor; on the clock a call may take four times as long."""
AT_ONCE = 4
LONGEST = 4_000
SCRIPT = """
import ast, itertools, json
with open("call.json") as file:
    mark, name, plain, named = json.load(file)
try:
    plain = [ast.literal_eval(text) for text in plain]
    named = {key: ast.literal_eval(text) for key, text in named.items()}
    given = [*plain, *named.values()]
    before = [repr(value) for value in given]
    import solution
    value = getattr(solution, name)(*plain, **named)
    if hasattr(value, "__next__"):
        value = list(itertools.islice(value, 100))
    changed = [new for old, new in zip(before, map(repr, given)) if old != new]
    told = {"kind": "value", "text": repr(value)[:20000], "changed": [one[:2000] for one in changed]}
except BaseException as error:
    told = {"kind": "error", "name": type(error).__name__, "text": str(error)[:2000]}
print(mark + json.dumps(told), flush=True)
"""


class CallableFunction(NamedTuple):
    """A function that can be called."""

    name: str
    parameters: str
    example: str
    """Arguments that a test gives it; told of the first alone."""


class CallAnswer(Frozen):
    """What one call did."""

    call: str
    kind: Literal["value", "error", "slow", "gone"]
    """"gone": its process broke off without a word."""
    name: str = ""
    """Of the error."""
    text: str = ""
    """The value as Python writes it, or what the error says."""
    changed: tuple[str, ...] = ()
    """Arguments that the call changed, as they are afterwards."""
    printed: str = ""


def list_functions(code: str, entry_point: str, tests: Sequence[str] = ()) -> list[CallableFunction]:
    """The functions of a module that can be called with plain values, the one that was asked for first."""
    tree = try_parse(code)
    found = [node for node in (tree.body if tree else ()) if isinstance(node, ast.FunctionDef)]
    public = sorted((one for one in found if one.name[0] != "_"), key=lambda one: one.name != entry_point)
    example = _find_example(public[0].name, tests) if public else ""
    return [CallableFunction(one.name, ast.unparse(one.args), "" if at else example) for at, one in enumerate(public)]


def _find_example(name: str, tests: Sequence[str]) -> str:
    calls = (seed.call() for seed in seeds_from_tests(name, tests))
    for call in calls:
        arguments = call.removeprefix(f"{name}(").removesuffix(")")
        try:
            read_arguments(name, arguments)
        except SetupProblem:
            continue
        return arguments
    return ""


def read_arguments(name: str, typed: str) -> tuple[list[str], dict[str, str]]:
    """The arguments in a text, each as Python writes it. Raises SetupProblem for all but plain values."""
    try:
        call = parse_expression(f"{name}(\n{typed[: LONGEST + 1]}\n)")
        if len(typed) > LONGEST or not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            raise ValueError("not the arguments of one call")
        named = {one.arg: one.value for one in call.keywords if one.arg}
        if len(named) < len(call.keywords):
            raise ValueError("a whole dict of arguments, or one of them twice")
        for value in (*call.args, *named.values()):
            ast.literal_eval(value)
        return [ast.unparse(one) for one in call.args], {key: ast.unparse(one) for key, one in named.items()}
    except (*PARSE_ERRORS, TypeError) as error:
        raise SetupProblem(
            'Type plain values as Python writes them, with commas between: 5, "hello", [3, 1, 2]. Text stands in '
            "quotation marks."
        ) from error


class CallSandboxes:
    """The sandboxes in which calls are tried: one for each set of packages, opened when first needed."""

    def __init__(self) -> None:
        self._boxes: dict[Path | None, Box] = {}
        self._lock = threading.Lock()
        self._stack = ExitStack()

    def call(self, run: Run, code: str, name: str, typed: str) -> CallAnswer:
        """Call a function of this code of the run. Raises SetupProblem for arguments that are none, AttemptError."""
        plain, named = read_arguments(name, typed)
        mark = f"\n{secrets.token_hex(16)}"
        files = {"solution.py": code, "call.json": json.dumps([mark, name, plain, named]), "try_it.py": SCRIPT}
        ran = self._open(run).run(("python", "try_it.py"), files, SECONDS)
        call = f"{name}({', '.join([*plain, *(f'{key}={value}' for key, value in named.items())])})"
        printed, found, said = ran.output.rpartition(mark)
        if not found:
            return CallAnswer(call=call, kind="slow" if ran.timed_out else "gone")
        try:
            told = json.JSONDecoder().raw_decode(said)[0]
            return CallAnswer.model_validate({**told, "call": call, "printed": printed})
        except (ValueError, TypeError):  # code that reads the mark may write anything after it
            return CallAnswer(call=call, kind="gone")

    def close(self) -> None:
        """End them all."""
        self._stack.close()

    def _open(self, run: Run) -> Box:
        added = run.last(PackagesAdded)
        layer = prepare_recorded_layer(list_recorded_packages(added)).folder if added and added.packages else None
        with self._lock:
            if layer not in self._boxes:
                self._boxes[layer] = self._stack.enter_context(open_sandbox(cells=AT_ONCE, layer=layer))
            return self._boxes[layer]
