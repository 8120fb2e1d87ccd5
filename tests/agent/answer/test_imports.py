"""Imports that an answer forgot are added; nothing that is bound somewhere is touched."""

import pytest

from burnish.agent.answer.code import add_missing_imports
from burnish.parsing import try_parse


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("def f(s):\n    return re.sub('a', 'b', s)\n", "import re"),
        ("def f(xs: List[int]) -> int:\n    return len(xs)\n", "from typing import List"),
        ("def f(xs):\n    return Counter(xs)\n", "from collections import Counter"),
        ("@lru_cache\ndef f(n):\n    return n\n", "from functools import lru_cache"),
        ("def f(xs):\n    return [math.sqrt(x) for x in xs]\n", "import math"),
        ("def f(x: 'int' = sys.maxsize):\n    return x\n", "import sys"),
        ("class f:\n    x: Optional[int] = None\n", "from typing import Optional"),
    ],
)
def test_a_forgotten_import_is_added_above(code: str, line: str) -> None:
    assert add_missing_imports(code) == f"{line}\n\n\n{code}"


@pytest.mark.parametrize(
    "code",
    [
        "import re\n\n\ndef f(s):\n    return re.sub('a', 'b', s)\n",
        "from re import sub as re\n\n\ndef f(s):\n    return re\n",
        "def f(re):\n    return re.x\n",
        "def f(*, re=1, **math):\n    return re, math\n",
        "def f(xs):\n    return [re for re in xs if re.x]\n",
        "def f(xs):\n    return {string: time for string, time in xs}\n",
        "def f(xs):\n    for string in xs:\n        return string\n",
        "def f(xs):\n    return (lambda copy: copy)(xs)\n",
        "def f(xs):\n    if (math := xs):\n        return math\n",
        "def f(xs):\n    try:\n        return xs\n    except KeyError as time:\n        return time\n",
        "def f(xs):\n    with xs as time:\n        return time\n",
        "def Counter(xs):\n    return xs\n\n\ndef f(xs):\n    return Counter(xs)\n",
        "class Fraction:\n    pass\n\n\ndef f(xs):\n    return Fraction()\n",
        "def f(s):\n    return s.re.math.Counter\n",
        "def f(s):\n    import re\n    return re.sub('a', 'b', s)\n",
        "def f(s):\n    return unheard_of(s)\n",
        "def f(s):\n    return print(s)\n",
        "def f(s:\n",
        "",
    ],
)
def test_what_is_bound_known_or_unknown_is_left_as_it_is(code: str) -> None:
    assert add_missing_imports(code) == code


@pytest.mark.parametrize(
    ("used", "packages", "line"),
    [
        ("pd.Series(x)", ("pandas",), "import pandas as pd"),
        ("np.array(x)", ("numpy", "pandas"), "import numpy as np"),
        ("plt.plot(x)", ("matplotlib",), "import matplotlib.pyplot as plt"),
        ("DataFrame(x)", ("pandas",), "from pandas import DataFrame"),
        ("numpy.array(x)", ("numpy",), "import numpy"),
        ("yaml.dump(x)", ("pyyaml",), "import yaml"),
        ("PIL.Image.new(x)", ("pillow",), "import PIL"),
    ],
)
def test_a_forgotten_import_of_a_package_that_is_there_is_added(
    used: str, packages: tuple[str, ...], line: str
) -> None:
    code = f"def f(x):\n    return {used}\n"
    assert add_missing_imports(code, packages=packages) == f"{line}\n\n\n{code}"
    assert add_missing_imports(code) == add_missing_imports(code, packages=("attrs",)) == code


@pytest.mark.parametrize("used", ["pillow.new(x)", "Numpy.array(x)", "torch.zeros(x)", "pd.Series(x)"])
def test_what_no_package_brings_under_that_name_is_left_as_it_is(used: str) -> None:
    code = f"def f(x):\n    return {used}\n"
    assert add_missing_imports(code, packages=("numpy", "pillow")) == code


def test_names_that_the_task_offers_are_not_imported() -> None:
    code = "def f(s):\n    return re.sub('a', math.pi, s)\n"
    assert add_missing_imports(code, ("re",)).startswith("import math\n\n\ndef f")


def test_several_stand_in_order_and_join_imports_that_are_there() -> None:
    code = "import os\n\n\ndef f(xs: List[int]):\n    return Counter(xs), math.pi, os\n"
    assert add_missing_imports(code) == f"from collections import Counter\nfrom typing import List\nimport math\n{code}"


@pytest.mark.parametrize(
    "code",
    [
        "from __future__ import annotations\n\n\ndef f(s):\n    return re.sub('a', 'b', s)\n",
        '"""Words."""\nfrom __future__ import annotations\n\n\ndef f(s):\n    return re.sub("a", "b", s)\n',
        "from __future__ import (\n    annotations,\n)\n\n\ndef f(s):\n    return re.sub('a', 'b', s)\n",
    ],
    ids=["plain", "below-words", "several-lines"],
)
def test_imports_from_the_future_stay_first_and_the_code_stays_valid(code: str) -> None:
    made = add_missing_imports(code)
    assert try_parse(made) is not None
    compile(made, "made", "exec", dont_inherit=True)
    if "(\n" not in code:
        assert made.startswith("from __future__ import annotations\nimport re\n")
