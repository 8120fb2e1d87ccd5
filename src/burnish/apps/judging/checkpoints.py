"""The four checkpoints of a built app: functional, quality, performance, integration, each passed, failed or not run.

Two cells serve the app: one to people who use it, one to those who attack it. Whatever is found is named in `why`, and
whole in the details.
"""

import ast
import random
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

from burnish.apps.blueprint import Blueprint
from burnish.apps.judging import rows
from burnish.apps.judging.acceptance import NotTried, StepFailed, StepResult, Trial, accept, come_in
from burnish.apps.judging.attacks import HUGE, AttackResult, attack
from burnish.apps.judging.browsing import Browsing
from burnish.apps.judging.served_app import Client, ServedApp
from burnish.checks.bench.check_context import CheckContext
from burnish.checks.project import Project, Settings
from burnish.checks.quality.check import QualityCheck
from burnish.checks.security.check import SecurityCheck
from burnish.checks.tests import TestsOfProject
from burnish.errors import BurnishError, SandboxError, SetupProblem
from burnish.events import Evidence, Outcome
from burnish.packages import Layer
from burnish.text import one_line, plural

CHECKPOINTS = ("functional", "quality", "performance", "integration")
ACTIONS = 200
SEEDS = (1, 2)
FEW, MANY = 3, 1000
"""Rows before and after; a page shows 50 of them."""
MORE_STATEMENTS = 1
PAGE_SECONDS, GROWTH, MOST_MEMORY_BYTES = 0.5, 6.0, 300 << 20
"""What a page may take with many rows, alone and in times of what it took with few; and what the process may hold."""
TIMES = 5
SETTINGS = Settings(test_seconds=120.0)

TEST_FILE = re.compile(r"tests/test_\w+\.py")

Tell = Callable[[str], None]
"""Told what begins. What it raises ends the judging."""


def judge_app(
    blueprint: Blueprint,
    files: Mapping[str, str],
    layer: Layer,
    sandbox: str = "auto",
    tell: Tell = lambda what: None,
    use_browser: bool = True,
) -> tuple[Evidence, ...]:
    """What all four say of a whole app."""
    # What reads files goes on beside what serves. Broken off, its cells are closed before it is waited for.
    with ThreadPoolExecutor(1) as pool, _open_project(files, layer, sandbox) as (project, context):
        reading = pool.submit(lambda: (_run_tests(project, context), _judge_quality(project, context, files)))
        try:
            with ServedApp(files, layer, sandbox=sandbox) as app:
                tell("use it")
                steps, no_browser = _use(blueprint, app, tell, use_browser)
                tell("use it at random")
                crash = play_at_random(blueprint, app)
                tell("measure it")
                performance = judge_performance(blueprint, app)
            tell("attack it")
            with ServedApp(files, layer, sandbox=sandbox) as app:
                attacks = attack(blueprint, app, tell)
        except SandboxError as error:
            return _refuse_start(reading.result(), one_line(str(error), 400))
        tests, quality = reading.result()
    return (
        _join_functional(tests, crash),
        quality,
        performance,
        _join_integration(steps, attacks, no_browser),
    )


def _refuse_start(known: tuple[Evidence, Evidence], why: str) -> tuple[Evidence, ...]:
    """What can be said of an app that does not serve."""
    said = f"the app does not serve: {why}"
    tests, quality = known
    return (
        _answer("functional", "failed", said, {"tests": tests.details}),
        quality,
        *(_answer(name, "not_run", said) for name in CHECKPOINTS[2:]),
    )


def _use(blueprint: Blueprint, app: ServedApp, tell: Tell, use_browser: bool) -> tuple[tuple[StepResult, ...], str]:
    """Try every step, in a browser if there is one; else why there is none."""
    with ExitStack() as opened:
        browser, why = None, "" if use_browser else "no browser was asked for"
        try:
            browser = opened.enter_context(Browsing(app)) if use_browser else None
        except (SetupProblem, SandboxError) as problem:
            why = one_line(str(problem), 300)
        return accept(blueprint, app, browser, tell), why


def _answer(check: str, verdict: Outcome, why: str, details: Mapping[str, object] | None = None) -> Evidence:
    return Evidence(check=check, verdict=verdict, why=why, details=dict(details or {}))


# --- files ---


@contextmanager
def _open_project(
    files: Mapping[str, str], layer: Layer, sandbox: str = "auto", tests: Sequence[str] | None = None
) -> Iterator[tuple[Project, CheckContext]]:
    """The files as a project of their own, and a sandbox that sees it. Of its tests only these are run, or all."""
    run = files if tests is None else [name for name in tests if name in files]
    with tempfile.TemporaryDirectory(prefix="burnish-app-") as folder:
        root = Path(folder).resolve()
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, "utf-8")
        project = Project(
            root=root,
            sources=tuple(sorted(Path(name) for name in files if re.fullmatch(r"app/.*\.py", name))),
            tests=tuple(sorted(Path(name) for name in run if TEST_FILE.fullmatch(name))),
            python=Path(sys.executable),
            examples=False,
            settings=SETTINGS,
            layer=layer.folder,
            alone=True,
        )
        with CheckContext(project, sandbox) as context:
            yield project, context


def judge_files(files: Mapping[str, str], layer: Layer, sandbox: str = "auto") -> Evidence:
    """The quality checkpoint alone; nothing of the app runs."""
    with _open_project(files, layer, sandbox) as (project, context):
        return _judge_quality(project, context, files)


def run_contract_tests(files: Mapping[str, str], layer: Layer, tests: Sequence[str], sandbox: str = "auto") -> Evidence:
    """What these of an app's contract tests say, in a cell: the functional checkpoint of one module."""
    # The other tests stay where they are: those of a module may make its rows with what the tests below it have.
    with _open_project(files, layer, sandbox, tests) as (project, context):
        return _run_tests(project, context)


def _run_tests(project: Project, context: CheckContext) -> Evidence:
    try:
        said = TestsOfProject().judge(project, context)
    except (BurnishError, OSError) as error:
        return _answer("functional", "not_run", one_line(str(error), 300))
    verdict: Outcome = said.verdict if project.tests else "failed"
    return said.model_copy(update={"check": "functional", "verdict": verdict})


def _judge_quality(project: Project, context: CheckContext, files: Mapping[str, str]) -> Evidence:
    """Our checks on the app's Python, and how its modules lean on each other."""
    parts = list[Evidence]()
    for check in (QualityCheck(), SecurityCheck()):
        try:
            parts.append(check.judge(project, context))
        except BurnishError as error:
            parts.append(_answer(check.name, "not_run", one_line(str(error), 300)))
    needs = map_imports(files)
    circle = find_circle(needs)
    why = f"modules lean on each other in a circle: {' → '.join(circle)}" if circle else "no circle between modules"
    parts.append(_answer("modules", "failed" if circle else "passed", why))
    verdicts = {part.verdict for part in parts}
    verdict: Outcome = "failed" if "failed" in verdicts else "not_run" if "not_run" in verdicts else "passed"
    shown = [part for part in parts if part.verdict == verdict]
    links = sum(map(len, needs.values()))
    details = {
        "parts": [part.model_dump(mode="json") for part in parts],
        "modules": {name: sorted(others) for name, others in needs.items()},
    }
    return Evidence(
        check="quality",
        verdict=verdict,
        why="; ".join(f"{part.check}: {part.why}" for part in shown),
        figure=f"{parts[0].figure or 'no score'}, {plural(len(needs), 'module')}, {plural(links, 'link')} between them",
        details=details,
    )


def map_imports(files: Mapping[str, str]) -> dict[str, set[str]]:
    """Which modules of an app each of them imports. What joins them all, `main`, is none."""
    names = {match[1] for name in files if (match := re.match(r"app/(\w+)(?:\.py|/.*\.py)$", name))} - {"__init__"}
    needs: dict[str, set[str]] = {name: set() for name in sorted(names - {"main"})}
    for file, text in files.items():
        match = re.match(r"app/(\w+)(?:\.py|/.*\.py)$", file)
        if not match or match[1] not in needs:
            continue
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError):
            continue  # the quality check says so
        for node in ast.walk(tree):
            module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
            listed = [one.name for one in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
            found = [module, *(f"{module}.{one}" if module else one for one in listed)]
            others = {one.split(".")[1] for one in found if one.startswith("app.")}
            needs[match[1]] |= (others & needs.keys()) - {match[1]}
    return needs


def find_circle(needs: Mapping[str, set[str]]) -> list[str]:
    """One way from a module back to itself; empty where there is none."""

    def follow(way: list[str]) -> list[str]:
        for other in sorted(needs.get(way[-1], ())):
            if other in way:
                return [*way[way.index(other) :], other]
            if other not in done and (found := follow([*way, other])):
                return found
        done.add(way[-1])
        return []

    done: set[str] = set()
    return next((found for name in sorted(needs) if name not in done and (found := follow([name]))), [])


# --- at random ---


def play_at_random(blueprint: Blueprint, app: ServedApp, seeds: Sequence[int] = SEEDS, actions: int = ACTIONS) -> str:
    """What the first action in a random session led to that it must not: a 5xx, or no answer; empty for nothing."""
    for seed in seeds:
        chance, trial = random.Random(seed), Trial(blueprint, app, None)  # noqa: S311
        client = Client(app)
        trial.me = client
        try:
            come_in(trial, client, f"random{seed}")
            for number in range(actions // len(seeds)):
                what = _act_at_random(trial, client, chance)
                if client.status >= 500:
                    return f"{what} answers {client.status} (action {number} with seed {seed})"
        except (StepFailed, NotTried, SandboxError) as error:
            return f"{error} (seed {seed})"
    return ""


def _act_at_random(trial: Trial, client: Client, chance: random.Random) -> str:
    """Do something that a person might; what it was."""
    entity = chance.choice(trial.blueprint.entities)
    field = chance.choice(entity.fields)
    path = f"/{entity.name}"
    match chance.randrange(6):
        case 0:
            value = chance.choice([*HUGE, "a", "yes", *field.options])
            name = chance.choice(["q", "sort", "view", "page", field.name])
            path += f"?{name}={value if value.isascii() else 'x'}"
        case 1:
            path += f"/{chance.randrange(1, 30)}{chance.choice(['', '/edit'])}"
        case 2:
            path += "/new"
        case _:
            pass
    page = client.goto(path)
    forms = [form for form in page.forms if form.method == "POST" and form.action != "/logout"]
    if not forms or chance.random() < 0.3:
        return f"GET {path}"
    form = chance.choice(forms)
    typed = dict(form.values)
    for one in entity.fields:
        if one.name in form.values or one.name in form.boxes:
            derived = "" if one.type == "reference" else rows.derive_value(one, chance.randrange(99), trial.salt)
            good = chance.choice(form.options.get(one.name) or (derived,))
            typed[one.name] = chance.choice([good, good, good, "", *HUGE[:3]])
    client.submit(form, typed)
    return f"POST {form.action}"


# --- performance ---


def judge_performance(blueprint: Blueprint, app: ServedApp) -> Evidence:
    """SQL statements and time of each kind of page, with few rows and with many."""
    trial = Trial(blueprint, app, None)
    client = Client(app)
    trial.me = client
    try:
        come_in(trial, client, "many")
        for entity in rows.order_entities(blueprint):
            for _ in range(FEW):
                trial.add(entity)
        paths = [*_list_pages(trial)]
        before = {path: _measure_page(app, client, path) for path in paths}
        for entity in rows.order_entities(blueprint):
            varied = [field.name for field in entity.fields if field.type in ("text", "integer")]
            app.fill_table(entity.name, MANY, varied, {field.name: field.target for field in entity.references})
        after = {path: _measure_page(app, client, path) for path in paths}
    except (StepFailed, NotTried, SandboxError) as error:
        return _answer("performance", "not_run", f"it could not be measured: {error}")
    flaws = []
    for path in paths:
        (few_statements, few_seconds), (statements, seconds) = before[path], after[path]
        if statements > few_statements + MORE_STATEMENTS:
            flaws.append(f"{path} takes {statements} queries with {MANY} rows and {few_statements} with {FEW}")
        if seconds > PAGE_SECONDS and seconds > GROWTH * few_seconds:
            flaws.append(f"{path} takes {seconds:.2f} s with {MANY} rows and {few_seconds:.2f} s with {FEW}")
    memory = app.read_state().memory_bytes
    if memory > MOST_MEMORY_BYTES:
        flaws.append(f"it holds {memory >> 20} MB")
    slowest = max(after, key=lambda path: after[path][1])
    statements = max(count for count, _ in after.values())
    figure = f"{1000 * after[slowest][1]:.0f} ms, {plural(statements, 'statement')}, {memory >> 20} MB"
    return Evidence(
        check="performance",
        verdict="failed" if flaws else "passed",
        why="; ".join(flaws) or f"no page takes more queries with {MANY} rows than with {FEW}",
        figure=figure,
        threshold=f"no more queries with {MANY} rows, at most {PAGE_SECONDS:g} s and {MOST_MEMORY_BYTES >> 20} MB",
        details={"pages": {path: [*before[path], *after[path]] for path in paths}},
    )


def _list_pages(trial: Trial) -> Iterator[str]:
    """One address of each kind of page."""
    for entity in trial.blueprint.entities:
        path = f"/{entity.name}"
        yield from (path, f"{path}/new")
        yield from [f"{path}?sort={field.name}" for field in entity.fields if field.type in rows.SORTABLE][:1]
        yield from (f"{path}?view={view.name}" for view in entity.views)
        if any(field.type in ("text", "long_text") for field in entity.fields):
            yield f"{path}?q=a"
        yield from (f"{path}/{id}" for id in [*trial.rows[entity.name]][-1:])


def _measure_page(app: ServedApp, client: Client, path: str) -> tuple[int, float]:
    """How many statements a page takes, and the median of its seconds."""
    taken = list[float]()
    if (status := client.send("GET", path).status) != 200:
        raise StepFailed(f"{path} answers {status}")
    before = app.read_state().statements
    for _ in range(TIMES):
        began = time.perf_counter()
        client.send("GET", path)
        taken.append(time.perf_counter() - began)
    return (app.read_state().statements - before) // TIMES, round(statistics.median(taken), 4)


# --- joined ---


def _join_functional(tests: Evidence, crash: str) -> Evidence:
    verdict: Outcome = "failed" if crash else tests.verdict
    why = [f"contract tests: {tests.why}", crash or f"{ACTIONS} random actions without a failure"]
    return Evidence(
        check="functional",
        verdict=verdict,
        why="; ".join(reversed(why) if crash else why),
        figure=tests.figure,
        threshold="all tests pass, no answer is 5xx",
        details={**tests.details, "random": crash},
    )


def _join_integration(steps: Sequence[StepResult], attacks: Sequence[AttackResult], no_browser: str) -> Evidence:
    """Failed where a step or an attack shows a flaw; not run where it takes a browser to see that there is none."""
    failed = [f"{step.step}: {step.why}" for step in steps if step.verdict == "failed"]
    failed += [f"attack {one.name}: {one.why}" for one in attacks if one.held is False]
    passed, held = sum(step.verdict == "passed" for step in steps), sum(one.held is True for one in attacks)
    tried = sum(one.held is not None for one in attacks)  # the others do not apply to such an app
    verdict: Outcome = "failed" if failed else "passed"
    figure = f"{passed} of {plural(len(steps), 'step')}, {held} of {plural(tried, 'attack')} held"
    why = f"{passed} of {plural(len(steps), 'step')} passed, {held} of {plural(tried, 'attack')} that apply held"
    if not failed and (no_browser or not held):
        verdict = "not_run"
        why += f"; not run: {no_browser or attacks[0].why}"
    return Evidence(
        check="integration",
        verdict=verdict,
        why="; ".join([*failed[:5], *([f"and {len(failed) - 5} more"] if len(failed) > 5 else [])]) or why,
        figure=figure,
        threshold="every step passes, every attack is held off",
        details={
            "steps": [step.model_dump(mode="json") for step in steps],
            "attacks": [one.model_dump(mode="json") for one in attacks],
        },
    )
