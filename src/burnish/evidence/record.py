"""Does the user's own record of the run say the same? Whoever made the folder cannot have changed that."""

from collections.abc import Iterator

from burnish.errors import BurnishError
from burnish.evidence.claim import Claim
from burnish.evidence.form import Cost, Dossier
from burnish.evidence.make import dossier_of
from burnish.runs import Run, Store, read_record


def claim_of_record(dossier: Dossier, store: Store) -> Claim:
    """Holds where the run is on record here and agrees; not tried where it is somebody else's."""
    said = f"run {dossier.run.id}"
    run = _recorded(dossier, store)
    if run is None:
        return Claim(what="record", answer="not_tried", said=said, why="this run is not on record here")
    try:
        other = list(_differences(dossier, dossier_of(run, {})))
    except (BurnishError, ValueError) as error:
        return Claim(what="record", answer="not_tried", said=said, why=f"the record cannot be read: {error}")
    if other:
        why = f"your own record of the run says otherwise: {', '.join(other)}"
        return Claim(what="record", answer="does_not_hold", said=said, found="something else", why=why)
    return Claim(what="record", answer="holds", said=said, found="the same")


def _recorded(dossier: Dossier, store: Store) -> Run | None:
    """The very run, by its id and the moment it began: ids are short, and another's run may have the same."""
    folder = store.runs / dossier.run.id
    try:
        run = Run(read_record(folder))
        return run if dossier_of(run, {}).run.at == dossier.run.at else None
    except (OSError, BurnishError, IndexError, ValueError):
        return None


def _differences(dossier: Dossier, recorded: Dossier) -> Iterator[str]:
    """What differs of all that the record knows; remarks and versions of tools are not compared."""
    for name, there, here in (
        ("the task", dossier.task, recorded.task),
        ("the verdict", dossier.verdict, recorded.verdict),
        ("the code", _code(dossier), _code(recorded)),
        ("who made the code", _makers(dossier), _makers(recorded)),
        ("the tests", _tests(dossier), _tests(recorded)),
        ("the packages", _packages(dossier), _packages(recorded)),
        ("the models", dossier.models, recorded.models),
        ("the cost", *_costs(dossier, recorded)),
    ):
        if there != here:
            yield name
    said, known = ({one.check: (one.verdict, one.figure) for one in each.checks} for each in (dossier, recorded))
    yield from (name for name in dict.fromkeys((*said, *known)) if said.get(name) != known.get(name))


def _costs(dossier: Dossier, recorded: Dossier) -> tuple[Cost, Cost]:
    """Both as far as the evidence goes: an older one says nothing about each model."""
    here = recorded.cost if dossier.cost.by_model else recorded.cost.model_copy(update={"by_model": ()})
    return dossier.cost, here


def _packages(dossier: Dossier) -> object:
    return [(one.name, one.version, one.wheel, one.sha256) for one in dossier.packages]


def _code(dossier: Dossier) -> str:
    return dossier.code.steps[0].sha256 if dossier.code else ""


def _makers(dossier: Dossier) -> object:
    steps = dossier.code.steps if dossier.code else ()
    return [(step.version, step.made.by, step.made.model, step.made.round, step.made.ask_id) for step in steps]


def _tests(dossier: Dossier) -> object:
    return [(test.name, test.test, test.origin, test.disputed, test.result) for test in dossier.tests]
