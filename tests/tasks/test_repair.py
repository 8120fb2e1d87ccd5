"""A file and the name of a function become a task."""

from burnish.tasks.repair import examples_of, from_file, function_names, repairable_names
from tests.support import refused

TEXT = '''
class Cart:
    def total(self, tax: float = 0.0) -> float:
        """The sum, e.g. Cart([1]).total() == 1.

        >>> cart = Cart([1])
        >>> cart.total()
        1
        """
        return 0


def double(n):
    """Twice n: double(2) == 4, double(3) -> 6. Not triple(1) == 3."""
    return n


def bare(): pass
'''


def test_words_and_examples_come_from_the_docstring_and_the_spec():
    task = from_file(TEXT, "double", "Also double(0) == 0.", tests=("t.py::test_x",), suspects=("bare",))
    assert task.prompt.startswith("Also double(0) == 0.\n\nTwice n")
    assert task.visible_tests == ("assert double(0) == 0", "assert double(2) == 4", "assert double(3) == 6")
    assert (task.entry_point, task.signature, task.base_code) == ("double", "double(n)", TEXT)
    assert (task.project_tests, task.suspects) == (("t.py::test_x",), ("bare",))


def test_a_method_has_a_dotted_name_and_examples_that_build_something_first():
    task = from_file(TEXT, "Cart.total")
    assert task.signature == "Cart.total(self, tax: float=0.0) -> float"
    assert "assert Cart([1]).total() == 1" in task.visible_tests
    assert all("cart = Cart([1])" in test for test in task.visible_tests if "cart.total" in test)


def test_without_words_a_plain_sentence_says_what_to_do():
    assert "bare" in from_file(TEXT, "bare").prompt
    assert from_file(TEXT, "bare").visible_tests == ()


def test_a_function_that_is_not_there_is_answered_with_the_nearest_names():
    for name in ("doubel", "total"):
        with refused(name=f"tasks/no function {name}"):
            from_file(TEXT, name)


def test_a_file_that_does_not_parse_is_still_a_task():
    broken = TEXT.replace("def double(n):", "def double(n:")
    assert function_names(broken) == ["Cart", "Cart.total", "double", "bare"]
    assert repairable_names(broken) == ["Cart.total", "double", "bare"]
    assert from_file(broken, "double").entry_point == "double"


def test_only_examples_of_the_function_are_taken():
    assert examples_of("f(1) == 2, g(2) == 3", "f") == ["assert f(1) == 2"]
