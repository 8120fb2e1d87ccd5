"""Who runs code in a run, and so must see its packages."""

from collections.abc import Callable, Sequence
from pathlib import Path

from burnish.agent.ask import Tools
from burnish.agent.packages import MOST_BYTES, Packages
from burnish.checks.final import FinalChecks
from burnish.checks.in_project import InProject
from burnish.checks.mutation.alone import Mutations
from burnish.packages import Bounds, Layer
from burnish.sandbox.box import Box

Wearer = Box | FinalChecks | Mutations | InProject


def packages_for(
    tools: Tools, layer: Layer | None, allow: Sequence[str], tell: Callable[[str], None] | None
) -> Packages | None:
    """What code may import; every place that runs code sees a new layer at once. None where a project has an
    environment of its own: that stays as it is.
    """
    places = (tools.sandbox, tools.checks, tools.mutations, tools.place)
    wearers = [one for one in places if isinstance(one, Wearer)]
    if any(isinstance(one, InProject) and not one.project.alone for one in wearers):
        return None

    def wear(folder: Path) -> None:
        for one in wearers:
            one.wear(folder)

    return Packages(layer, allow, wear, tell, bounds=lambda: _optional(tools))


def _optional(tools: Tools) -> Bounds:
    """For packages that only the code asks for: half of the time that is left, so that it can be told to do without."""
    return Bounds.within(tools.meter.seconds_left / 2, tools.cancel, MOST_BYTES)
