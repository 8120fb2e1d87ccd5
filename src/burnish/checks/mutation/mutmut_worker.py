"""A process of ours that makes mutants from text: a line of JSON in, a line of JSON out, until nobody asks any more.

Its one rule: it only reads text. mutmut decides what is changed and how a change is called; nothing is imported, built
or run here. It is a program of its own because mutmut takes half a second to load, and hostile text may hang it.
Started by `mutant.py`, by its path; nothing of Burnish is loaded.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import libcst
from libcst.metadata import MetadataWrapper, PositionProvider
from mutmut import configuration
from mutmut.mutation import file_mutation
from mutmut.mutation.pragma_handling import IgnoredCode, get_ignored_lines
from mutmut.mutation.trampoline_templates import mangle_function_name
from mutmut.utils.format_utils import get_mutant_name

JSON = dict[str, Any]


def main() -> None:
    """Answer until the questions end."""
    configuration._config = SimpleNamespace(do_not_mutate_patterns=[])  # type: ignore[assignment]
    for line in sys.stdin.buffer:
        print(json.dumps(answer_question(json.loads(line))), flush=True)


def answer_question(asked: JSON) -> JSON:
    """The mutants of one file, or why there are none."""
    # In code that a model wrote nothing is ignored: it may not choose what is looked at.
    chosen = (lambda *_: IgnoredCode(set(), set(), set())) if asked["all"] else get_ignored_lines
    setattr(file_mutation, "get_ignored_lines", chosen)  # noqa: B010
    try:
        return {"mutants": list(make_mutants(asked["file"], asked["text"]))}
    except libcst.ParserSyntaxError as error:
        return {"unparsable": f"line {error.raw_line}: {error.message}"}
    except Exception as error:
        return {"problem": f"{type(error).__name__}: {error}"}


def make_mutants(file: str, text: str) -> Iterator[JSON]:
    """Each change mutmut would make, as the text of the function that has it, in mutmut's own order."""
    module, mutations, _, _ = file_mutation.create_mutations(file, text)
    changes = file_mutation.group_by_top_level_node(mutations)
    lines = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider) if changes else {}
    for function, owner in find_functions(module):
        if function not in changes:
            continue
        mangled, line = mangle_function_name(name=function.name.value, class_name=owner), lines[function].start.line
        # The function's text begins with the comments, blank lines and decorators above its `def`.
        above = (*function.leading_lines, *function.decorators, *function.lines_after_decorators)
        whole = {
            "function": function.name.value,
            "owner": owner or "",
            "line": line,
            "first": line - sum(module.code_for_node(node).count("\n") for node in above),
            "was": module.code_for_node(function),
        }
        for number, change in enumerate(changes[function], start=1):
            changed = file_mutation.deep_replace(function, change.original_node, change.mutated_node)
            assert isinstance(changed, libcst.CSTNode)
            yield {
                **whole,
                "key": get_mutant_name(Path(file), f"{mangled}__mutmut_{number}"),
                "text": module.code_for_node(changed),
                "old": module.code_for_node(change.original_node).strip(),
                "new": module.code_for_node(change.mutated_node).strip(),
            }


def find_functions(module: libcst.Module) -> Iterator[tuple[libcst.FunctionDef, str | None]]:
    """The functions that can have mutants, each with the class it is a method of."""
    for statement in module.body:
        if isinstance(statement, libcst.FunctionDef):
            yield statement, None
        elif isinstance(statement, libcst.ClassDef) and isinstance(statement.body, libcst.IndentedBlock):
            for member in statement.body.body:
                if isinstance(member, libcst.FunctionDef):
                    yield member, statement.name.value


if __name__ == "__main__":
    main()
