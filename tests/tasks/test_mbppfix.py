"""The three variants of a planted bug."""

from burnish.evals.strategies.strategy import show_task
from burnish.tasks import Task
from burnish.tasks.assemble import assemble
from burnish.tasks.mbppfix import PlantedBug, as_docs, as_file, as_tests, build_file, pick_neighbours


def reference(number: int, name: str, body: str = "return x + 1", imports: str = "") -> Task:
    tests = [f"assert {name}({n}) == {n + 1}" for n in (1, 2, 3)]
    return Task(
        id=f"mbpp-{number}",
        prompt=f"Words about {name}.",
        entry_point=name,
        gold=f"{imports}def {name}(x):\n    {body}\n",
        visible_tests=(tests[0],),
        hidden_tests="\n".join(tests) + "\n",
        split="tune",
    )


TASK = reference(511, "up", imports="import math\n")
BUG = PlantedBug(id="mbpp-511", code="import math\n\ndef up(x):\n    return x - 1\n", bug="operator misuse", failing=1)
OTHERS = [reference(520 + number, f"up{number}", imports="import re\n") for number in range(6)]


def test_docs_has_the_words_in_a_docstring_and_the_first_assertion() -> None:
    task = as_docs(TASK, BUG)
    assert task.id == "mbppfix-511"
    assert task.base_code == 'import math\n\ndef up(x):\n    """Words about up."""\n    return x - 1\n'
    assert task.gold == task.base_code.replace("-", "+")
    assert (task.visible_tests, task.bug, task.signature) == (TASK.visible_tests, "operator misuse", "up(x)")
    assert task.prompt == TASK.prompt


def test_tests_shows_no_word_of_the_description_and_the_first_test_that_fails() -> None:
    documented = TASK.model_copy(update={"gold": TASK.gold.replace("return", '"""Words about up."""\n    return')})
    task = as_tests(documented, BUG.model_copy(update={"code": as_docs(TASK, BUG).base_code}))
    assert task.visible_tests == ("assert up(2) == 3",)
    assert "Words" not in show_task(task, "visible").model_dump_json()


def test_a_test_that_needs_preparation_brings_it() -> None:
    shown = TASK.model_copy(update={"visible_tests": ("x = 1\nassert up(1) == 2",)})
    assert as_tests(shown, BUG).visible_tests == ("x = 1\nassert up(2) == 3",)


def test_file_holds_five_functions_with_one_bug_among_them() -> None:
    around = pick_neighbours(TASK, [TASK, *OTHERS])
    assert len(around) == 4
    task = as_file(TASK, BUG, around)
    assert task.base_code.startswith("import")
    assert task.base_code.count("import re\n") == 1
    assert task.base_code.count("def ") == task.base_code.count('"""Words') == 5
    assert task.base_code.count("x - 1") == 1
    assert (
        assemble(task, "def up(x):\n    return x + 1\n").replace("    return", '    """Words about up."""\n    return')
        != ""
    )
    assert assemble(task, task.gold) == task.gold


def test_the_place_in_the_file_varies_with_the_task() -> None:
    around = OTHERS[:4]
    found = {build_file(TASK.gold, around, f"mbpp-{number}").index("def up(x)") for number in range(60)}
    assert len(found) == 5


def test_neighbours_are_single_functions_whose_names_are_free() -> None:
    clash = reference(530, "up")
    helped = reference(531, "g", "return x + 1\ndef other(x):\n    return x")
    builtin = reference(532, "sum")
    star = reference(533, "h", imports="from math import *\n")
    shadow = reference(534, "k", imports="from cmath import sqrt as math\n")
    assert pick_neighbours(TASK, [TASK, clash, helped, builtin, star, shadow]) == []
    assert pick_neighbours(TASK, OTHERS, avoid={OTHERS[0].id}) == pick_neighbours(TASK, OTHERS[1:])
