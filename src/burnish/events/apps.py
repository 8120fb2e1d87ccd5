"""What happens while a small web app is built: it is planned, made module by module, its functions written, judged."""

from typing import Literal

from pydantic import Field

from burnish.events.base import BaseEvent, Count, Frozen
from burnish.events.checks import Evidence
from burnish.events.run import Verdict

Stage = Literal["generate", "optimise", "debug"]
"""What a step is for: the first making, less time or better code, or something that does not work."""
MadeBy = Literal["rules", "model", "both"]


class AppFile(Frozen):
    """One file of a module."""

    path: str
    sha256: str


class AppPlanned(BaseEvent):
    """The app is a blueprint now; everything else follows from that."""

    kind: Literal["app_planned"] = "app_planned"
    blueprint: str
    """As JSON: its type lies above events."""
    title: str
    entities: tuple[str, ...]
    """Their labels."""
    assumptions: tuple[str, ...] = ()
    """What the sentence left open, as it is taken now, each after the switch that turns it."""
    left_out: tuple[str, ...] = ()
    made_by: MadeBy
    rebuilt: tuple[str, ...] = ()
    """Of a follow-up: the modules that differ from what there was; all others stay byte for byte."""


class FunctionBegun(BaseEvent):
    """A function that no rule can build is being written, in a run of its own."""

    kind: Literal["function_begun"] = "function_begun"
    function: str
    """ENTITY.NAME."""
    run_id: str
    attempt: int = 1
    stage: Stage = "generate"


class FunctionWritten(BaseEvent):
    """That run is over."""

    kind: Literal["function_written"] = "function_written"
    function: str
    run_id: str = ""
    """Empty where nobody was asked."""
    attempt: int = 1
    verdict: Verdict | None = None
    """None: the run has none, or there was none."""
    code: str = ""
    """Empty: the app does without this function."""
    why: str = ""
    calls: Count = 0
    tokens: Count = 0
    dollars: float | None = 0.0
    """What its run took, which counts in this one; dollars are None where nobody knows."""
    stage: Stage = "generate"


class ModuleBuilt(BaseEvent):
    """The files of one module are there."""

    kind: Literal["module_built"] = "module_built"
    module: str
    level: int = Field(ge=0)
    needs: tuple[str, ...] = ()
    files: tuple[AppFile, ...]
    kept: tuple[str, ...] = ()
    """Of a follow-up: files that the user changed, and that stay as the user left them."""
    replaced: tuple[str, ...] = ()
    """Files that the user changed, and that had to be made anew; the user's are handed over beside them."""
    made_by: MadeBy = "rules"
    seconds: float = 0.0
    stage: Stage = "generate"


class AppJudged(BaseEvent):
    """One checkpoint gave its answer, on one module or on the whole app."""

    kind: Literal["app_judged"] = "app_judged"
    module: str = ""
    """Empty: the whole."""
    evidence: Evidence
    basis: str = ""
    """Hash of the files that were judged: the same are not judged twice."""
    seconds: float = 0.0
    stage: Stage = "generate"
