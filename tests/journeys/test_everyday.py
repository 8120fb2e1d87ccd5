"""What people ask for every day, through the public door: files, objects, and answers of yes and no."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import burnish
from burnish import Run, ScriptedModel
from burnish.events import Compared
from tests.support import ASKING, block

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("open_box", "store")]

LINES = "a function filled_lines(path) that counts the lines of a text file, but not the empty ones"
COUNT = "def filled_lines(path):\n    with open(path) as file:\n        return "
COUNTS, COUNTS_ALL = block(f"{COUNT}sum(line != '\\n' for line in file)"), block(f"{COUNT}len(file.readlines())")
COUNTS_LETTERS = block("def filled_lines(path):\n    return len(path)")
FILE_TESTS = block(
    r"""
assert filled_lines(file_with("one\n\ntwo\n")) == 2
assert filled_lines(file_with("")) == 0
assert filled_lines(file_with("one")) == 1
assert filled_lines("missing.txt") == 0
"""
)
EMAIL = "a function is_email(text): check if an email address is valid"
ALWAYS_NO = block("def is_email(text):\n    return False")
LOOKS = block("def is_email(text):\n    name, _, host = text.partition('@')\n    return bool(name) and '.' in host")
YES_AND_NO = block(
    "assert is_email('anna@example.com') == True\nassert is_email('bob@mail.org') == True\n"
    "assert is_email('anna') == False\nassert is_email('') == False\nassert is_email('@') == False"
)


def write(sentence: str, tests: str, answers: list[str], **options: object) -> Run:
    replies = {**dict.fromkeys(ASKING, answers), "tests": [tests], "assume": ["none"]}
    return burnish.write(sentence, ScriptedModel(replies), fast=True, **options)  # type: ignore[arg-type]


def test_a_task_about_a_file_gets_files_to_be_tested_and_compared_with(tmp_path: Path) -> None:
    run = write(LINES, FILE_TESTS, [COUNTS, COUNTS_ALL, COUNTS, COUNTS], out=tmp_path / "lines")
    assert run.verdict == "plausible"
    assert "line != " in run.code
    assert len(run.model_tests) == 3, "what names a file that is not there tests nothing"
    compared = run.last(Compared)
    assert compared is not None
    assert len(compared.groups) == 2 or compared.likeness[0] < 1
    pytest_run = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    told = subprocess.run(pytest_run, cwd=tmp_path / "lines", capture_output=True, text=True)
    assert "3 passed" in told.stdout, "people run them without Burnish"


def test_code_that_never_opens_the_file_fails() -> None:
    assert write(LINES, FILE_TESTS, [COUNTS_LETTERS], limits=burnish.Limits(rounds=1)).verdict == "failed"


def test_code_that_always_says_no_does_not_pass_by_setting_every_yes_aside() -> None:
    assert write(EMAIL, YES_AND_NO, [ALWAYS_NO]).verdict == "failed"
    run = write(EMAIL, YES_AND_NO, [ALWAYS_NO, ALWAYS_NO + "\n", LOOKS, ALWAYS_NO])
    assert (run.verdict, "partition" in run.code) == ("plausible", True)


ACCOUNT = (
    "a class BankAccount(balance) with deposit(amount) and withdraw(amount), and the balance as an attribute. "
    "Nobody can take out more than there is: BankAccount(10).withdraw(20) raises ValueError"
)
GUARDED = """class BankAccount:
    def __init__(self, balance):
        self.balance = balance

    def deposit(self, amount):
        self.balance += amount

    def withdraw(self, amount):
        if amount > self.balance:
            raise ValueError("not enough money")
        self.balance -= amount
"""
STEPS = block("a = BankAccount(10); a.deposit(5); assert a.balance == 15\na = BankAccount(3); assert a.balance == 3")


def test_the_readmes_form_of_an_example_decides_on_a_class() -> None:
    run = write(ACCOUNT, STEPS, [block(GUARDED)])
    assert run.verdict != "failed"
    assert run.spec is not None
    assert run.spec.given_tests == ("with pytest.raises(ValueError):\n    BankAccount(10).withdraw(20)",)
    careless = re.sub(r" +if .*\n.*\n", "", GUARDED)
    assert write(ACCOUNT, STEPS, [block(careless)], limits=burnish.Limits(rounds=1)).verdict == "failed"
