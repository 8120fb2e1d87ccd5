"""`burnish.build`, `burnish.plan`: a small web app from a sentence. The Python twin of the commands of those names."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from burnish.agent.ask import Reviewer
from burnish.agent.limits import Limits
from burnish.apps import planning
from burnish.apps.attempt import VERB, start_build
from burnish.apps.blueprint import Blueprint
from burnish.apps.folder import (
    EXECUTABLE,
    START,
    BuiltApp,
    commit_modules,
    list_app_files,
    open_built,
    open_folder,
    read_brief,
    write_over,
)
from burnish.apps.planning import Planned
from burnish.apps.state import join_files
from burnish.commands.write import add_evidence, put_files
from burnish.errors import SetupProblem
from burnish.events import AppFacts, FilesWritten, Notice
from burnish.model_choice import Opener, select_models
from burnish.models.names import Models, list_given, open_models
from burnish.report.costs import NOBODY
from burnish.report.deliverables import check_free
from burnish.runs import Run, Store, Watch
from burnish.runs.attempt import Resources
from burnish.runs.request import Request
from burnish.tasks import Task
from burnish.text import plural, slug

LIMITS = Limits(rounds=3, calls=40, tokens=200_000, seconds=900.0)
"""Unless said otherwise: a plan and some functions, each with a run of its own."""
MOST_SENTENCE = 2000
WHO = {"everyone": "everyone", "members": "every member", "owner": "who added it"}
EXAMPLE = 'burnish build "a list of books to lend"'


@dataclass(frozen=True)
class BuildOptions:
    """What is asked of a build, as it is typed."""

    sentence: str = ""
    source: str = ""
    """A run, or the folder of an app, to go on from."""
    out: Path | str | None = None
    flips: Sequence[str] = ()
    without: Literal["", "rules", "model"] = ""


def plan(sentence: str, flips: Sequence[str] = ()) -> Blueprint:
    """What an app of this sentence would be, as rules read it: no model is asked, and nothing is written.

    Raises SetupProblem for what is no app that can be built, and for a sentence that contradicts itself.
    """
    planned = planning.plan_by_rules(_read_sentence(sentence))
    if planned.blueprint is None:
        raise SetupProblem(planned.refusal or planned.question)
    blueprint = planned.blueprint
    for switch in flips:
        blueprint = planning.flip(blueprint, switch)
    return blueprint


def build(
    sentence: str = "",
    model: Models | None = None,
    *,
    from_run: Path | str = "",
    out: Path | str | None = None,
    flips: Sequence[str] = (),
    without: Literal["", "rules", "model"] = "",
    limits: Limits = LIMITS,
    store: Store | None = None,
    watch: Watch | None = None,
    review: Reviewer | None = None,
    opener: Opener | None = None,
) -> Run:
    """Have a small web app planned, made module by module, tried as a person would use it, and handed over.

    `out` names a new or empty folder for it. `from_run` is a run, or the folder of an app, to go on from: `sentence`
    then says what should be different, and what it does not touch stays byte for byte; without `out` the folder is
    changed where it lies. `flips` are switches of assumptions to turn. `without` leaves out rules or the model.
    `review` is shown the plan before anything is built. All else is as in `burnish.write`.
    """
    store = store or Store()
    options = BuildOptions(sentence, str(from_run), out, flips, without)
    request = build_request(options, model, limits=limits, store=store, review=review is not None)
    models = list_given(model) or (() if without == "model" else (opener or open_models)(request.model))
    run = start_build(request, Resources(models, store, watch, review=review)).wait()
    return deliver(run, store, watch)


def build_request(
    options: BuildOptions,
    model: Models | None = None,
    *,
    limits: Limits = LIMITS,
    store: Store | None = None,
    review: bool = False,
    keep_thoughts: bool = False,
) -> Request:
    """What is asked of the run of a build. Raises SetupProblem for what cannot be one, before anything begins."""
    store = store or Store()
    into, built = open_source(options.source, store) if options.source else ("", None)
    words = _read_sentence(options.sentence, is_needed=not (built and (options.flips or review)))
    if built is None:
        plan(words)  # what no app can be is refused before a model is asked
    else:
        now = Blueprint.model_validate_json(built.blueprints[-1])
        changed = planning.read_change(now, words, "") if words else Planned(blueprint=now)
        if changed.blueprint is None and changed.question:
            raise SetupProblem(changed.question)
        for switch in options.flips:
            planning.flip(now, switch)
    if options.out is not None:
        check_free(Path(options.out))
    elif into and not _is_writable(Path(into)):
        raise SetupProblem(f"{into!r} cannot be written. Name another folder for the result: --out DIR")
    asks = options.without != "model"
    selection = select_models(model, limits, store) if asks else None
    facts = AppFacts(
        flips=tuple(options.flips),
        without=options.without,
        earlier=built.blueprints if built else (),
        functions=built.functions if built else {},
        edited=built.edited if built else {},
        into=into if options.out is None else "",
    )
    return Request(
        task=Task(id=slug(words or "app"), prompt=words, own_tests=False),
        verb=VERB,
        model=selection.names if selection else NOBODY,
        chosen=selection.why if selection else "",
        limits=limits,
        continues=built.run if built else None,
        out=str(Path(options.out).absolute()) if options.out is not None else "",
        review=review,
        keep_thoughts=keep_thoughts,
        app=facts,
    )


def open_source(source: str, store: Store) -> tuple[str, BuiltApp]:
    """The folder that an app lies in, as an absolute path, or "" for that of a run; and what there is of it."""
    folder = Path(source).expanduser()
    with suppress(OSError):
        if folder.is_dir():
            return str(folder.resolve()), open_folder(folder)
    return "", open_built(store.open(source))


def deliver(run: Run, store: Store, watch: Watch | None = None, numbered: bool = False) -> Run:
    """Put the app into the folder that the run names, if it names one; of a follow-up, in place of what was there.

    A run that came to no app delivers nothing.
    """
    facts = run.settings.app
    if run.verdict is None or facts is None or not run.evidence or not (run.settings.out or facts.into):
        return run
    files = list_app_files(run)
    if facts.into:
        brief, folder = read_brief(run), Path(facts.into)
        files = add_evidence(run, files)
        write_over(folder, files, join_files(brief.files_before), facts.edited)
        written = FilesWritten(folder=str(folder), files=tuple(files))
    else:
        written = put_files(run, files, Path(run.settings.out), numbered)
    (Path(written.folder) / START).chmod(EXECUTABLE)
    why = commit_modules(run, Path(written.folder), written.files)
    if why and watch:
        watch(Notice(text=why, stays=True))
    return store.add(run, written, watch)


def _read_sentence(sentence: str, is_needed: bool = True) -> str:
    """The sentence as it is asked for. Raises SetupProblem for one that is empty, or too long."""
    words = sentence.encode("utf-8", "replace").decode().strip()
    if is_needed and not any(sign.isalnum() for sign in words):
        raise SetupProblem("Say in a sentence what the app should do", EXAMPLE)
    if len(words) > MOST_SENTENCE:
        raise SetupProblem(
            f"The sentence has {len(words)} characters, and {MOST_SENTENCE} are the most. Say what matters first; the "
            'rest can follow, a sentence at a time: burnish build --from DIR "…"'
        )
    return words


def _is_writable(folder: Path) -> bool:
    try:
        check_free(folder / ".burnish-new")
    except SetupProblem:
        return False
    return True


def describe_plan(blueprint: Blueprint) -> list[str]:
    """The lines of `burnish plan`: what there is to be, what was assumed, and two ways to build it."""
    lines = [blueprint.title, ""]
    for entity in blueprint.entities:
        fields = [f"{one.label} ({one.target or one.type.replace('_', ' ')})" for one in entity.fields]
        lines.append(f"{entity.plural}: {', '.join(fields)}")
        special = [*(one.label for one in entity.computed), *(one.label for one in entity.actions)]
        special += [f"list {one.label}" for one in entity.views]
        lines += [f"  {', '.join(special)}"] if special else []
        lines.append(f"  read by {WHO[entity.read]}, changed by {WHO[entity.write]}")
    lines += ["", "Assumed (turn one with --flip SWITCH):"] if blueprint.switches else []
    lines += [f"  {one.id}: {one.text if one.on else one.otherwise}" for one in blueprint.switches]
    lines += [f"Left out: {point}" for point in blueprint.left_out]
    for way in planning.sketch_architectures(blueprint):
        built = "what is built" if way.is_built else "the usual other way"
        lines += ["", f"{way.name} ({built}): {way.summary}"]
        lines.append(f"  {plural(len(way.modules), 'module')}, about {plural(way.files, 'file')}")
        lines += [f"  + {point}" for point in way.advantages]
        lines += [f"  - {point}" for point in way.drawbacks]
    return lines
