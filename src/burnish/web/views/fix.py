"""Fix: code with a fault goes in, pasted or uploaded, with what says that it is wrong. The run finds the place."""

from pathlib import Path
from textwrap import dedent

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from burnish.agent.questions import MOST_QUESTIONS
from burnish.commands.fix import CHECKS_AT_END, FixOptions
from burnish.errors import SetupProblem
from burnish.model_choice import last_speeds, select_models
from burnish.packages import Budget
from burnish.parsing import try_parse
from burnish.runs.request import Request as Asked
from burnish.tasks import Task
from burnish.tasks.repair import docstring_of, examples_of, function_names
from burnish.text import slug
from burnish.web.forms import MINUTES, SURE, read_form, read_limits, read_text, read_uploads
from burnish.web.model_menu import list_menu
from burnish.web.page import Tab, choose_language, go_to, render, translator
from burnish.web.uploads import MOST_BYTES, holds_tests, make_folder, note_run, put_code, read_python, unpack

TAB = Tab("Fix", "/fix")
MOST_LETTERS = 500_000
"""Of pasted code."""
File = tuple[str, bytes] | None


async def show_form(request: Request) -> Response:
    """The empty form."""

    def build() -> Response:
        models = list_menu((), last_speeds(), translator(choose_language(request)))
        return render(
            request,
            "fix.html",
            verb="fix",
            models=models,
            model=models[0].name,
            minutes="3",
            choices=tuple(MINUTES),
            most=MOST_BYTES >> 20,
        )

    return await run_in_threadpool(build)


async def begin(request: Request) -> Response:
    """Keep what was sent, begin a run with it, and go to its page."""
    form = await read_form(request)
    file, tests = await read_uploads(form, MOST_BYTES, "file", "tests_file")

    def start() -> Response:
        store, limits = request.app.state.store, read_limits(form)
        with make_folder(store) as folder:
            options = _read_zip(form, file, folder) if _is_folder(file) else _read_code(form, file, tests, folder)
            selection = select_models(read_text(form, "model") or None, limits, store)
            name = Path(str(options.path).partition("::")[0]).name
            asked = Asked(
                task=Task(id=slug(f"fix-{Path(name).stem}"), prompt=options.spec or f"Repair {name}"),
                verb="fix",
                model=selection.names,
                chosen=selection.why,
                limits=limits,
                checks=CHECKS_AT_END,
                confidence=SURE.get(read_text(form, "sure"), SURE["usual"]),
                review=read_text(form, "review") == "on",
                questions=MOST_QUESTIONS,
            )
            active = request.app.state.runs.fix(options, asked, request.state.owner)
            note_run(folder, active.id)
        return go_to(request, f"/runs/{active.id}")

    return await run_in_threadpool(start)


def _is_folder(file: File) -> bool:
    return file is not None and not file[0].lower().endswith(".py")


def _read_zip(form: FormData, file: File, folder: Path) -> FixOptions:
    """A project, with the file or the failing test that is named; else its failing tests point at the file."""
    assert file is not None
    if _read_code_field(form, "code"):
        raise SetupProblem("There is code in the box, and a folder was chosen. Send one of them.")
    if _read_code_field(form, "tests"):
        raise SetupProblem("The tests of a folder are those that lie in it: leave the box for tests empty.")
    root, named = unpack(*file, folder), read_text(form, "place").removeprefix("./")
    place = root / named.partition("::")[0]
    if ".." in place.parts or not place.is_relative_to(root) or not place.exists():
        raise SetupProblem(
            f"There is no {named.partition('::')[0]!r} in the folder. Look at the name, or leave it out."
        )
    limits = read_limits(form)
    return FixOptions(path=f"{root}/{named}", spec=read_text(form, "words"), bounds=Budget.within(limits.seconds))


def _read_code(form: FormData, file: File, tests_file: File, folder: Path) -> FixOptions:
    """One file, with tests that lie beside it from now on, or words."""
    code, tests, words = _read_code_field(form, "code"), _read_code_field(form, "tests"), read_text(form, "words")
    if bool(code) == bool(file):
        raise SetupProblem("Paste your code, or choose a file with it: one of the two.")
    if tests and tests_file:
        raise SetupProblem("There are tests in the box, and a file of tests was chosen. Send one of them.")
    code = read_python(*file) if file else code
    tests = read_python(*tests_file) if tests_file else tests
    if tests and not holds_tests(tests):
        if tests_file:
            raise SetupProblem(f"There is no test in {tests_file[0]!r}: no function whose name begins with test.")
        words, tests = f"{words}\n\n{tests}".strip(), ""  # lines such as f(2) == 4 are examples
    names = function_names(code)
    has_examples = any(examples_of(docstring_of(code, name), name) for name in names)
    if not (tests or words or has_examples) and try_parse(code) is not None:
        raise SetupProblem("What is wrong with it? Add a test, or say in words what the code should do.")
    name, tests_name = (file[0] if file else ""), (tests_file[0] if tests_file else "")
    path, beside = put_code(folder, code, name, tests, tests_name)
    bounds = Budget.within(read_limits(form).seconds)
    return FixOptions(path=path, tests=beside, spec=words, bounds=bounds)


def _read_code_field(form: FormData, name: str) -> str:
    """Pasted code: the indentation that all of it shares goes, that of its lines stays."""
    value = form.get(name, "")
    text = value if isinstance(value, str) else ""
    if len(text) > MOST_LETTERS:
        raise SetupProblem(f"That is longer than {MOST_LETTERS:,} characters. Send it as a file.")
    text = dedent(text.replace("\r\n", "\n")).strip("\n")
    return f"{text}\n" if text.strip() else ""


ROUTES = [
    Route("/fix", show_form),
    Route("/fix", begin, methods=["POST"]),
]
