"""Projects and models that want code of theirs in a file of tests, which a user then runs without any sandbox."""

import ast
from pathlib import Path

import pytest

import burnish
from burnish import Store
from burnish.agent.nodes.strengthen import read_calls
from burnish.agent.nodes.write_tests import extract_tests
from burnish.commands.strengthen import read_new_tests
from burnish.events import Decided

TESTS = "from shop.prices import f\n\n\ndef test_it():\n    assert f(2)\n"
CODE = "def f(n):\n    return n + 1\n"
EXPRESSIONS = (
    "__import__('os').system('true')",
    "eval('1')",
    "exec('1') or 1",
    "open('/etc/passwd').read() and 1",
    "print.__self__.eval('1')",
    "().__class__.__base__.__subclasses__() and 1",
    "getattr(f, '__glob' + 'als__') and 1",
    "f.__globals__ and 1",
    "compile('1', '', 'eval') and 1",
    "[part for part in (lambda: __import__('os'))().environ] and 1",
)


def project(root: Path, code: str = CODE, folder: str = "shop") -> Path:
    for name, text in {
        "pyproject.toml": "",
        "shop/__init__.py": "",
        "shop/prices.py": CODE,
        f"{folder}/__init__.py": "",
        f"{folder}/prices.py": code,
        "tests/test_prices.py": TESTS,
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_a_test_of_the_models_that_does_more_than_compute_is_not_used(expression: str) -> None:
    assert extract_tests(f"```python\nassert f({expression}) == 2\n```", "f")[0] == []
    assert extract_tests(f"```python\nx = {expression}\nassert f(1) == 2\n```", "f", stories=True)[0] in (
        [],
        ["assert f(1) == 2"],
    )
    assert read_calls(f"```python\nf({expression})\n```", ["f"]) == ()


def test_a_test_of_the_models_that_computes_is_used() -> None:
    honest = [
        "assert f(sum([1, 2])) == 4",
        "assert f(1).__class__.__name__ == 'int'",
        "assert sorted(f([2, 1])) == [1]",
    ]
    assert extract_tests("```python\n" + "\n".join(honest) + "\n```", "f")[0] == honest


@pytest.mark.slow
@pytest.mark.parametrize("typed", ["f(__import__('os').getpid() * 0 + 2)", "f(os.getpid() * 0 + 2)"])
def test_what_a_docstring_types_does_not_become_a_test_that_reaches_out(
    tmp_path: Path, store: Store, typed: str
) -> None:
    code = f'import os\n\n\ndef f(n):\n    """F.\n\n    >>> {typed}\n    3\n    """\n    return n + 1\n'
    root = project(tmp_path / "project", code)
    run = burnish.strengthen(root / "tests", root / "shop", "none", store=store, seconds=40)
    for text in read_new_tests(run, store).values():
        used = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
        assert not used & {"os", "__import__"}


@pytest.mark.slow
def test_the_name_of_a_folder_does_not_become_code_of_a_test(tmp_path: Path, store: Store) -> None:
    folder = "shop.prices import f; __import__('os').getpid() #"
    root = project(tmp_path / "project", CODE, folder)
    run = burnish.strengthen(root / "tests", root / folder, "none", store=store, seconds=40)
    assert not any("__import__" in text for text in read_new_tests(run, store).values())
    assert run.all(Decided)
