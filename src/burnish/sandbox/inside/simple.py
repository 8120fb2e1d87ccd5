"""Is a script so simple that running it cannot change the process it runs in?

Most scripts of asserts are: they call the code and compare. Such a script is judged without a fork, which is half the
price of a job. The question is put to the compiled script, by the instructions and names in it; whatever is in doubt is
judged in a fork, where it can do no harm.
"""

import builtins
import dis
import opcode
import sys
import types
from collections.abc import Iterator

from burnish.sandbox.inside.known import words

HARMLESS = words(
    "abs all any ascii bin bool bytearray bytes callable chr complex dict divmod enumerate filter float "
    "frozenset hash hex id int isinstance issubclass iter len list map max min next oct ord pow print range repr "
    "reversed round set slice sorted str sum tuple type zip"
)
"""Built-in functions that change nothing but what they are given."""
MODULES = words("math cmath itertools random statistics datetime fractions collections heapq bisect re time")
"""The modules that a script may import: there is nothing in them that it could change for the next one (`random` is
seeded for each).

Not among them, though tests use them: `operator`, `functools`, `string` and `copy` reach attributes by a name in a
text, set them, or hold tables; `typing` evaluates texts.
"""
HARMFUL = (
    (frozenset(vars(builtins)) - HARMLESS)
    | (sys.stdlib_module_names - MODULES)
    | {"modules", "environ", "register", "format", "format_map"}
)
"""The last five: ways to change what every later script sees (abstract classes have `register`), and the methods of a
text that read any attribute by a name in it.
"""
INNER = ("_", "gi_", "f_", "tb_", "cr_", "ag_", "co_")
"""Attributes that lead into the interpreter begin with one of these."""
REFUSED = frozenset(
    opcode.opmap[name] for name in words("STORE_ATTR DELETE_ATTR LOAD_BUILD_CLASS PUSH_EXC_INFO MATCH_CLASS")
)
"""Instructions that change objects from outside, make classes, catch exceptions (every `with` does), or read attributes
whose names are constants (`case` with a class).
"""
IMPORT = opcode.opmap["IMPORT_NAME"]
IMPORTED = MODULES | {"solution"}


def is_simple(code: types.CodeType) -> bool:
    """True when the script only calls, computes and compares."""
    return all(is_harmless(part) for part in all_code(code))


def is_harmless(code: types.CodeType) -> bool:
    """True when one function, without those in it, cannot change anything outside the script."""
    steps = code.co_code[::2]
    if not REFUSED.isdisjoint(steps) or not HARMFUL.isdisjoint(code.co_names):
        return False
    if IMPORT in steps and not {one.argval for one in dis.get_instructions(code) if one.opcode == IMPORT} <= IMPORTED:
        return False
    return not any(name.startswith(INNER) for name in code.co_names)


def all_code(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code of a script and of all functions in it."""
    yield code
    for constant in code.co_consts:
        if type(constant) is types.CodeType:
            yield from all_code(constant)
