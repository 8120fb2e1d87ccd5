"""Mutants beside mutmut's, where it makes few: branches dropped, conditions negated, other names returned."""

from collections.abc import Iterator
from pathlib import Path

from burnish.checks.bench.bench import change_of
from burnish.checks.mutation.mutant import Mutant
from burnish.parsing import try_parse
from burnish.search.branch_edits import DROPPED, propose_branch_edits
from burnish.tasks.source import all_functions

FEW = 50
"""Fewer mutants of mutmut's than this, and these are tried as well.

A score of so few is a rough measure: around 60 %, Wilson's interval of 50 is 27 points wide. A whole branch without a
test is two or three mutants, so the score does not show it; that its removal goes unnoticed does.
"""
MARK = "__branch_"
FORBIDDEN = "pragma: no mutate"


def make_branch_mutants(file: str, text: str, everything: bool = False) -> Iterator[Mutant]:
    """The mutants of one file; none where a comment forbids mutants, unless `everything` is asked for.

    Left out like by mutmut: decorated functions, and those that stand neither at the top nor in a class there.
    """
    tree = try_parse(text)
    if tree is None or (FORBIDDEN in text and not everything):
        return
    module = ".".join(Path(file.removeprefix("src/")).with_suffix("").parts)
    for name, node in all_functions(tree).items():
        if node.decorator_list:
            continue
        for number, (changed, edit) in enumerate(propose_branch_edits(text, name), start=1):
            if change := change_of(text, changed, file):
                dropped = edit.kind == DROPPED
                yield Mutant(
                    **change,
                    key=f"{module}.{name}{MARK}{number}",
                    function=node.name,
                    old=edit.words if dropped else edit.old,
                    new="" if dropped else edit.new,
                )
