"""What is assumed where everyday sentences leave something open: `experiments/assumptions.py MODEL FOLDER CALLS`.

Every sentence of assumptions/sentences.txt, written before the first run, is given to `burnish.write` once. Prints for
each what is assumed, what is left open, the docstring and the verdict; FOLDER keeps the records. With two CALLS the
assumptions are made and little else; four suffice for tests and a first version.
"""

import ast
import sys
from pathlib import Path

import burnish
from burnish.report.deliverables import list_open_questions
from burnish.tasks.examples import find_assumed_tests

SENTENCES = Path(__file__).parent / "assumptions" / "sentences.txt"


def find_docstrings(code: str) -> list[str]:
    """Every docstring of a module."""
    kinds = (ast.Module, ast.FunctionDef, ast.ClassDef)
    found = [ast.get_docstring(node) for node in ast.walk(ast.parse(code)) if isinstance(node, kinds)]
    return [text for text in found if text]


def main(model: str, folder: str, calls: str) -> None:
    """One run after another, each told in a few lines."""
    store = burnish.Store(Path(folder))
    for sentence in SENTENCES.read_text("utf-8").splitlines():
        run = burnish.write(
            sentence, model=model, store=store, fast=True, limits=burnish.Limits(seconds=240, calls=int(calls))
        )
        assert run.spec
        tested = [find_assumed_tests([point]).keys() & {*run.model_tests} for point in run.spec.assumptions]
        print(f"\n{sentence}: {run.verdict}, {run.seconds:.0f} s")
        print(f"  signature  {run.spec.signature}")
        for point, tests in zip(run.spec.assumptions, tested, strict=True):
            print(f"  assumed    {point}{'' if tests else '  (no test)'}")
        for question in list_open_questions(run):
            print(f"  open       {question}")
        for text in find_docstrings(run.code or ""):
            print(f"  docstring  {text!r}")
        print("  | " + "\n  | ".join((run.code or "").splitlines()), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:4])
