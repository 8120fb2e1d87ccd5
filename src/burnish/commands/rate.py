"""`burnish.rate`: what somebody thinks of a run, given, changed and taken back. Delivered files stay as they are."""

import os
import secrets
import stat
from pathlib import Path
from typing import TypedDict, Unpack

from burnish.checks.bench.bench import ModuleBench
from burnish.errors import SetupProblem
from burnish.events import FeedbackGiven, FeedbackTakenBack, PackagesAdded
from burnish.events.feedback import USER, Comment, Correction, Opinion, Preference, Stars, Thumbs
from burnish.events.history import Run, Version
from burnish.parsing import decode_source, explain_syntax_error
from burnish.report.deliverables import read_suite
from burnish.runs.record import Record
from burnish.runs.store import Store, open_run
from burnish.sandbox import open_sandbox
from burnish.tasks.contradiction import find_contradiction
from burnish.tasks.examples import find_called_names, find_examples
from burnish.text import join_words, one_line, plural, strip_controls

MOST_WORDS = 4_000
"""Characters of a comment."""
MOST_CODE = 200_000
"""Characters of a correction."""
MOST_NAME = 80
KINDS = ("stars", "thumbs", "correct", "code", "example", "better_than", "take_back")
"""What is said one at a time."""
WAIT_SECONDS = 3.0
"""For another process that puts its own word on the same record; a run that is at work has it for longer."""


class Rating(TypedDict, total=False):
    """What can be said of a run: one of stars, thumbs, comment, correct, code, example, better_than and take_back."""

    stars: int | None
    """From 1 (useless) to 5 (just right)."""
    thumbs: str | None
    """"up" or "down"."""
    comment: str
    """Goes with each of the others too, and says why."""
    line: int | None
    """Of the code, for a comment."""
    correct: Path | str | None
    """A file of the code as it should have been, or an example: "f(2) == 4"."""
    code: str | None
    """The code as it should have been, as text."""
    example: str | None
    """An example that should hold; never taken for the name of a file."""
    better_than: str | None
    """Another run, or RUN:VERSION."""
    change: str | None
    """The id of feedback that this replaces."""
    take_back: str | None
    """The id of feedback that no longer stands."""


def rate(
    run: str,
    *,
    by: str = "",
    simulated: bool = False,
    store: Store | None = None,
    sandbox: str = "auto",
    **rating: Unpack[Rating],
) -> Run:
    """Put on a run's record what somebody thinks of it, and return the run; `run.feedback` is all that stands.

    `run` is an id, its beginning, "last", or RUN:VERSION for one version in it. `by` is a name, if there is to be one.
    `simulated` says that a program stands in for a person. Who gives stars or thumbs again has changed their mind. Code
    that corrects a run meets the given examples in the sandbox. Raises SetupProblem where nothing that can be kept was
    said, and while the run is at work.
    """
    if unknown := rating.keys() - Rating.__annotations__.keys():
        raise TypeError(f"rate() got an unexpected keyword argument {min(unknown)!r}")
    store = store or Store()
    opened, version = store.open_version(run)
    if len(by) > MOST_NAME or not by.isprintable():
        raise SetupProblem(f"A name is one line of at most {MOST_NAME} characters. Give a shorter one: --by NAME")
    refuse_mixture(opened, rating)
    given = read_rating(opened, version, rating, store, sandbox) if rating.get("take_back") is None else None
    with Record(store.runs / opened.id) as record:
        try:
            record.hold(WAIT_SECONDS)
        except SetupProblem as problem:
            raise SetupProblem(
                f"Run {opened.id!r} is still at work in another process, so there is nothing to rate yet. Wait "
                f"until it has ended, and look with: burnish show {opened.id}"
            ) from problem
        opened = open_run(store.runs / opened.id)  # as it stands now that nobody else can write
        event = settle_feedback(opened, given, rating, by, simulated)
        record.append(event)
    return Run((*opened.events, event))


def settle_feedback(
    run: Run, given: FeedbackGiven | None, rating: Rating, by: str, simulated: bool
) -> FeedbackGiven | FeedbackTakenBack:
    """What goes on record: what was given, under the id of what it replaces, or that something is taken back."""
    if given is None:
        known = _find_feedback(run, rating.get("take_back") or "")
        return FeedbackTakenBack(id=known.id, by=by or USER, simulated=simulated)
    if (change := rating.get("change")) is not None:  # what is not said anew stays as it was
        old = _find_feedback(run, change)
        only_words = isinstance(given.opinion, Comment) and given.opinion.line is None
        return given.model_copy(
            update={
                "id": old.id,
                "opinion": old.opinion if only_words else given.opinion,
                "words": given.words or old.words,
                "version": old.version if given.version is None else given.version,
                "by": by or old.by,
                "simulated": simulated or old.simulated,
            }
        )
    given = given.model_copy(update={"by": by or USER, "simulated": simulated})
    for one in reversed(run.feedback):  # of one thing a person has one opinion in stars, and one in thumbs
        same = (one.version, one.by, one.simulated) == (given.version, given.by, given.simulated)
        if same and one.opinion.form == given.opinion.form in ("stars", "thumbs"):
            return given.model_copy(update={"id": one.id})
    return given


def refuse_mixture(run: Run, rating: Rating) -> None:
    """Refuse nothing at all, two things at once, and a line without a comment on it."""
    said = [name for name in KINDS if rating.get(name) is not None]
    if not said and not rating.get("comment", "").strip():
        raise SetupProblem(f"Say what you think of the run, for example: burnish rate {run.id} --stars 4")
    said += [name for name in ("change", "comment") if "take_back" in said and rating.get(name)]
    if len(said) > 1:
        options = [f"--{name.replace('_', '-')}" for name in said]
        raise SetupProblem(
            f"{join_words(options)} do not go together. Say one thing at a time: burnish rate {run.id} {options[0]} …"
        )
    if rating.get("line") is not None and (said or not rating.get("comment")):
        raise SetupProblem(f'A line goes with a comment: burnish rate {run.id} --comment "…" --line {rating["line"]}')


def read_rating(run: Run, version: Version | None, rating: Rating, store: Store, sandbox: str) -> FeedbackGiven:
    """What was said, if it can be kept."""
    opinion: Opinion
    match rating:
        case {"stars": stars} if stars is not None:
            if type(stars) is not int or not 1 <= stars <= 5:
                raise SetupProblem(f"Stars go from 1 (useless) to 5 (just right): burnish rate {run.id} --stars 4")
            opinion = Stars(stars=stars)
        case {"thumbs": thumbs} if thumbs is not None:
            if thumbs not in ("up", "down"):
                raise SetupProblem(f"Thumbs go up or down: burnish rate {run.id} --thumbs up")
            opinion = Thumbs(up=thumbs == "up")
        case {"correct": correct} if correct is not None:
            opinion = read_correction(run, correct, sandbox)
        case {"code": code} if code is not None:
            opinion = check_code(run, check_python(code, "The code"), "The code", sandbox)
        case {"example": example} if example is not None:
            opinion = read_example(run, example)
        case {"better_than": name} if name is not None:
            other, than = store.open_version(name)
            best, second = version or run.final, than or other.final
            if other.id == run.id and best == second:
                raise SetupProblem(
                    f"{one_line(name)!r} is the same run and version, and nothing is better than itself. Name another "
                    f"one: burnish rate {run.id} --better-than RUN, or for versions RUN:1 --better-than RUN:2"
                )
            opinion = Preference(than_run=other.id, than_version=than.number if than else None)
        case _:
            line = rating.get("line")
            version = version or (run.final if line is not None else None)
            lines = len(version.code.splitlines()) if version else 0
            if line is not None and not 1 <= line <= lines:
                raise SetupProblem(
                    f"There is no line {line}: the code of run {run.id!r} has {plural(lines, 'line')}. "
                    f"Count them with: burnish show {run.id} --code | cat -n"
                )
            opinion = Comment(line=line)
    return FeedbackGiven(
        id=f"f{secrets.token_hex(3)}",
        opinion=opinion,
        words=_check_text(rating.get("comment", ""), MOST_WORDS, "The comment", "--comment WORDS"),
        version=version.number if version else None,
    )


def read_correction(run: Run, correct: Path | str, sandbox: str) -> Correction:
    """The code of a file, or the examples in a text. Raises SetupProblem for what contradicts a given example."""
    file = Path(correct)
    if isinstance(correct, Path) or file.suffix == ".py" or os.path.isfile(file):  # noqa: PTH113 (never raises)
        return check_code(run, read_code(file, _show_example(run)), f"The correction {str(file)!r}", sandbox)
    return read_example(run, correct)


def check_code(run: Run, code: str, what: str, sandbox: str) -> Correction:
    """The code as a correction. Raises SetupProblem where it fails a given example."""
    suite = read_suite(run)
    alone = suite.model_copy(update={"model": (), "added": (), "pinned": ()})
    # Tests of a project need the project, and packages their folder: there the person is believed.
    if suite.given and not suite.project and not run.last(PackagesAdded):
        with open_sandbox(sandbox, cells=1) as box:
            graded = ModuleBench(box).grade(code, alone)
        if not graded.all_passed:
            failed = next(iter(alone.failures(graded)), graded.problem)
            raise SetupProblem(
                f"{what} contradicts what was given: it fails `{one_line(failed)}`. "
                f"Correct it, or say what is wrong with the example: burnish rate {run.id} --comment WORDS"
            )
    return Correction(code=code)


def read_example(run: Run, text: str) -> Correction:
    """The examples in a text. Raises SetupProblem where there is none, and for one that contradicts a given one."""
    suite = read_suite(run)
    tests = find_examples(_check_text(text, MOST_WORDS, "The correction", "--correct FILE"))
    known = {suite.entry_point, *suite.imports}
    if not tests or not all(known & {*find_called_names(test)} for test in tests):
        raise SetupProblem(
            f"{one_line(text)!r} is neither a file nor an example in Python that calls {suite.entry_point!r}. "
            f"Write one out: {_show_example(run)}"
        )
    if pair := find_contradiction([*suite.given, *tests]):
        raise SetupProblem(
            f"The correction `{one_line(pair[1])}` contradicts `{one_line(pair[0])}`, which decides. If that was a "
            f"mistake, write it anew with the right one: burnish write --from {run.id}"
        )
    return Correction(tests="\n".join(tests))


def _show_example(run: Run) -> str:
    return f'burnish rate {run.id} --correct "{read_suite(run).entry_point}(…) == …"'


def read_code(file: Path, example: str) -> str:
    """The text of a file of Python. Raises SetupProblem where it is none; `example` is what to type instead."""
    try:
        status = file.stat()
        if status.st_size > MOST_CODE or not stat.S_ISREG(status.st_mode):
            raise SetupProblem(f"{str(file)!r} is too large, or no plain file. Name one of Python: --correct FILE")
        code = decode_source(file.read_bytes())
    except (OSError, SyntaxError, ValueError) as error:
        why = getattr(error, "strerror", None) or getattr(error, "msg", None) or "no such name is possible"
        raise SetupProblem(
            f"The correction {one_line(str(file))!r} cannot be read ({why}). Name a file of Python, or an example: "
            f"{example}"
        ) from error
    return check_python(code, f"The correction {str(file)!r}", example)


def check_python(code: str, what: str, example: str = "") -> str:
    """The text, if it is code. Raises SetupProblem."""
    if why := "it is empty" if not code.strip() else explain_syntax_error(code):
        hint = f", or give an example: {example}" if example else "."
        raise SetupProblem(f"{what} is no Python ({why}). Correct it{hint}")
    return _check_text(code, MOST_CODE, "The file", "--correct FILE")


def _find_feedback(run: Run, name: str) -> FeedbackGiven:
    found = next((given for given in run.feedback if given.id == name), None)
    if found is None:
        raise SetupProblem(
            f"Run {run.id!r} has no feedback {one_line(name, 40)!r}. See what there is: burnish rate {run.id} --list"
        )
    return found


def _check_text(text: str, most: int, what: str, option: str) -> str:
    """The text, if it is of a sane size and shows all that it holds."""
    text = text.replace("\r\n", "\n")
    if len(text) > most:
        raise SetupProblem(f"{what} has {len(text):,} characters, and {most:,} are kept at most. Shorten it: {option}")
    if strip_controls(text) != text:
        raise SetupProblem(f"{what} holds control characters, which no screen shows. Take them out: {option}")
    return text
