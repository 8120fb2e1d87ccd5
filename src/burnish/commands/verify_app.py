"""`burnish verify` for an app: do its files follow from its blueprint, and do the checkpoints say what they said?

Nothing of a folder is run but in a cell, and nothing of it but the files that its evidence lists.
"""

from collections.abc import Callable, Iterator

from burnish.apps.blueprint import Blueprint
from burnish.apps.judging.checkpoints import judge_app
from burnish.apps.state import join_files, make_files
from burnish.errors import AttemptError
from burnish.evidence.claims import Claim, claim_check, claim_nothing, read_versions
from burnish.evidence.folder import DeliveredFolder
from burnish.evidence.schema import BLUEPRINT, Dossier, EvidenceApp
from burnish.packages import Layer
from burnish.text import one_line, plural

SLOW = ("performance",)


def find_app_changes(app: EvidenceApp, held: DeliveredFolder) -> tuple[str, ...]:
    """Why the folder is not what its evidence speaks of."""
    try:
        blueprint, shown = (Blueprint.model_validate_json(text) for text in (app.blueprint, held.text(BLUEPRINT)))
        made = _make_again(app)
    except ValueError as error:
        return (f"its blueprint is none: {one_line(str(error), 200)}",)
    found = [] if shown == blueprint else [f"{BLUEPRINT} is not the one of the evidence"]
    listed = {path for module in app.modules for path in module.files}
    found += [f"{path} is no file of this app" for path in sorted(listed - made.keys())]
    return tuple(found)


def claim_app(
    dossier: Dossier, app: EvidenceApp, held: DeliveredFolder, prepare: Callable[[], Layer], fast: bool, sandbox: str
) -> Iterator[Claim]:
    """The verdict, where the files come from, and what each checkpoint says now."""
    files = {path: held.text(path) for module in app.modules for path in module.files}
    made, kept = _make_again(app), {path for module in app.modules for path in module.kept}
    other = sorted(path for path, text in files.items() if path not in kept and text != made.get(path))
    of_user = f", {len(kept)} as their owner left them" if kept else ""
    follow = Claim(what="files", answer="holds", said=f"{plural(len(files), 'file')} from the blueprint{of_user}")
    if other:  # another version of Burnish makes other files, and these were judged as they are
        why = f"this Burnish makes {', '.join(other[:3])} in another way"
        follow = follow.model_copy(update={"answer": "not_tried", "why": why})
    try:
        blueprint = Blueprint.model_validate_json(app.blueprint)
        now = {one.check: one for one in judge_app(blueprint, files, prepare(), sandbox)}
    except AttemptError as error:
        now = {}
        follow = follow.model_copy(update={"why": one_line(str(error), 300)})
    versions, claims = read_versions(), []
    for said in dossier.checks:
        found = now.get(said.check)
        if said.verdict == "not_run" or found is None or (fast and said.check in SLOW):
            claims.append(claim_nothing(said, "it was not run then either" if found else "it could not be run here"))
        else:  # times are chance: the verdict counts
            same = said.model_copy(update={"figure": found.figure})
            claims.append(claim_check(same, found, dossier.tools, versions))
    verdict = Claim(what="verdict", answer="holds", said=dossier.verdict or "no verdict", found=dossier.verdict or "")
    if any(claim.answer == "does_not_hold" for claim in claims):
        verdict = verdict.deny("a checkpoint says something else here")
    elif all(claim.answer == "not_tried" for claim in claims):
        verdict = verdict.model_copy(update={"answer": "not_tried", "why": "no checkpoint could be run here"})
    yield from (verdict, follow, *claims)


def _make_again(app: EvidenceApp) -> dict[str, str]:
    """The files as they follow from what the evidence says."""
    *earlier, now = (Blueprint.model_validate_json(text) for text in (*app.earlier, app.blueprint))
    functions = {one.name: one.code for one in app.functions if one.code}
    return join_files(make_files(now, functions, earlier))
