"""The form of `evidence.json`, as small frozen types, its text and the hash over it. What does not fit is not read.

Sizes are limited because the file may come from anybody. docs/evidence.md tells every field in words.
"""

import hashlib
import json
import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from burnish.events import FeedbackGiven, Frozen, Outcome, Verdict
from burnish.redact import MOST_CHARACTERS

FORMAT = "burnish evidence"
VERSION = 6
"""Raise it when an older Burnish would read a file wrongly, or find a field in it that it does not know.

2 says what each model took, which packages the code could import, and why its models were chosen. 3 has feedback, and
says as a value what a check measured, which was in its words alone. 4 has the confidence, questions that would settle
it, tests that were read from the task's words, what was left open, and repairs of a project's file. 5 has live pages.
6 has small web apps.
"""
FILE = "evidence.json"
REPORT = "report.md"
DIFF = "fix.diff"
PAGE_HTML, PAGE_JS = "page.html", "page.js"
BLUEPRINT = "blueprint.json"
BESIDE = "before"
"""The folder with what the user had written into files that had to be made anew."""
UNKNOWN = "unknown"
TEXT, MANY, MOST_TESTS = 1_000_000, 5_000, 2_000
"""Characters of a text, items of a list, tests."""

_SAFE = re.compile(
    r"(?:[^./\\][^/\\]*/){0,20}[^./\\][^/\\]*\.(?:py|md|txt|rst|diff|html|js|png|webp|css|sql|json|svg|toml|ini)"
    r"|run|\.gitignore"
)
_PICTURE = r"^page-[1-9][0-9]{0,5}\.(?:png|webp)$"


def _require_safe_name(name: str) -> str:
    """The name, if it stays in the folder and is one that Burnish could have given."""
    if not _SAFE.fullmatch(name) or not name.isprintable():
        raise ValueError(f"{name[:80]!r} is not the name of a file that Burnish delivers")
    return name


Line = Annotated[str, Field(max_length=MOST_CHARACTERS)]
Text = Annotated[str, Field(max_length=TEXT)]
Name = Annotated[str, Field(max_length=200), AfterValidator(_require_safe_name)]
Dotted = Annotated[str, Field(max_length=200, pattern=r"^(?:[^\W\d]\w*(?:\.[^\W\d]\w*)*)?$")]
Normal = Annotated[str, Field(max_length=200, pattern=r"^[a-z0-9]+(?:-[a-z0-9]+)*$")]
"""The name of a package, in its normal form."""
Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Count = Annotated[int, Field(ge=0, le=10**12)]
Amount = Annotated[float, Field(ge=0, le=1e12, allow_inf_nan=False)]
Origin = Literal["given", "worded", "model", "spec", "agreed", "pinned"]
GivenIn = Literal["", "words", "answer", "review", "file", "project", "earlier run"]


class Attribution(Frozen):
    """Who made a part, and why it was made."""

    by: Line
    """"draft", "rewrite", "tweak", "refine"…: the step of the agent; "given" and "user": a person."""
    model: Line = ""
    """Empty where no model was asked."""
    prompt_version: Line = ""
    ask_id: Line = ""
    """The question in the run's record."""
    round: Count = 0
    decision: Line = ""
    """What the agent decided just before, in its own words."""


class CodeStep(Frozen):
    """One version of the code, on the way to the one that is delivered."""

    version: Count
    base: Count | None = None
    """The version it was made from; None: written afresh."""
    sha256: Hash
    mended: Line = ""
    """What had to be done to the model's answer before it was code."""
    made: Attribution


class DeliveredCode(Frozen):
    """The code that is delivered."""

    file: Name
    steps: Annotated[tuple[CodeStep, ...], Field(min_length=1, max_length=MANY)]
    """The delivered version first, then what it was made from, and so on back."""
    chosen: Line = ""
    """Why this version and no other, in the agent's own words."""


class ListedTest(Frozen):
    """One test."""

    __test__ = False
    name: Line
    """What it is called in the delivered file."""
    test: Text
    origin: Origin
    """Who says what is right."""
    disputed: bool = False
    """Set aside and not run. Never a given one."""
    given_in: GivenIn = ""
    """For a given test: the task's words, an answer of the user's, a review, their own file, or an earlier run."""
    why: Line = ""
    """For an added test: who vouches for it. For one that was read from the task's words: those words."""
    result: Outcome = "not_run"
    """On the delivered code, when the judge ran it."""
    made: Attribution


class EvidenceTask(Frozen):
    """The task."""

    words: Text
    entry_point: Dotted
    signature: Line = ""
    module: Dotted
    """What the module is called in the delivered files."""
    imports: Annotated[tuple[Dotted, ...], Field(max_length=MANY)] = ()
    """Further names of it that the tests use."""
    test_file: Text = ""
    """The user's own pytest file; it imports `solution`."""
    assumptions: Annotated[tuple[Line, ...], Field(max_length=MANY)] = ()
    open_questions: Annotated[tuple[Line, ...], Field(max_length=MANY)] = ()
    """What nothing has settled, as report and `show` have it; empty in evidence before 4."""
    taken_back: Annotated[tuple[Text, ...], Field(max_length=MANY)] = ()
    """Tests that the words give, and that a person took back at a review."""


class EvidenceRepair(Frozen):
    """The file of a project that was repaired. Paths are those below the project's root."""

    file: Name
    base_sha256: Hash
    """Of the file before the repair."""
    functions: Annotated[tuple[Dotted, ...], Field(max_length=MANY)] = ()
    """Those that differ, which the checks judged; empty: the whole file."""
    test_files: Annotated[dict[Name, Hash], Field(max_length=MOST_TESTS)] = Field(default_factory=dict)
    """The project's tests that decide, as they were; a copy of each is delivered."""
    own_tests: Name | Literal[""] = ""
    """The delivered file with all other tests, such as examples of the user's; empty where there are none."""


class EvidenceRun(Frozen):
    """The run that made it."""

    id: Annotated[str, Field(max_length=100, pattern=r"^[a-z0-9-]+$")]
    verb: Line
    at: Line
    """When it began, in UTC."""
    burnish: Line
    sandbox: Line
    """The protections under which code ran."""
    continues: Line = ""
    """The earlier run that this one goes on from; RUN:VERSION where it is not its result."""
    chosen: Line = ""
    """Why its models were chosen, where the user had named none."""


class EvidenceModel(Frozen):
    """A model, and what is known of it."""

    name: Line
    licence: Line = UNKNOWN
    weights_sha256: Hash | Literal["unknown"] = "unknown"


class EvidencePackage(Frozen):
    """A third-party package that the code could import."""

    name: Normal
    version: Annotated[str, Field(max_length=100, pattern=r"^[0-9A-Za-z.!+_-]+$")]
    asked: bool = True
    """By the user, or by code that imports it; all others are what these need."""
    named: bool = False
    """By the user: code that goes online with it does what it was asked to."""
    extras: Annotated[tuple[Normal, ...], Field(max_length=100)] = ()
    """Parts of it that were asked for besides."""
    wheel: Annotated[str, Field(max_length=300, pattern=r"^(?:[^/\\\s]+\.whl)?$")] = ""
    """The file it came in."""
    sha256: Hash | Literal[""] = ""
    """Of that file."""


class CheckAnswer(Frozen):
    """What one check said of the delivered files."""

    check: Annotated[str, Field(max_length=60)]
    verdict: Outcome
    figure: Line = ""
    threshold: Line = ""
    why: Line = ""
    value: Amount | Line | None = None
    """What was measured, as data: percent, points of 100, how the time grows. None: nothing, or evidence before 3."""
    equivalent: Count | None = None
    """Of small changes to the code: how many behave as the code does, and do not count. None: older evidence, in which
    they did, or another check.
    """


class ModelCost(Frozen):
    """What one model read, wrote, took and cost."""

    model: Line
    answers: Count
    tokens_in: Count
    tokens_cached: Count
    """Of those read, from the provider's cache."""
    tokens_out: Count
    tokens_thought: Count
    """Of those written, thoughts."""
    seconds: Amount
    dollars: Amount | None
    """None: the price is not known."""


class RunCost(Frozen):
    """What it took."""

    calls: Count
    tokens_in: Count
    tokens_out: Count
    seconds: Amount
    dollars: Amount | None
    """None: the price is not known."""
    by_model: Annotated[tuple[ModelCost, ...], Field(max_length=100)] = ()
    """Empty in older evidence."""


class Remark(Frozen):
    """What a person said."""

    kind: Literal["answered", "reviewed", "rated", "ticked"]
    about: Line = ""
    """The assumption, where in the run, or the criterion that was ticked."""
    said: Line = ""
    """For a review: go_on, change, comment, edited or stop. For a tick: yes, no or taken back."""
    words: Text = ""
    line: Count | None = None
    stars: Annotated[int, Field(ge=1, le=5)] | None = None


class SettlingQuestion(Frozen):
    """What versions that pass the same tests disagreed on, and what the user said."""

    call: Line
    options: Annotated[tuple[Line, ...], Field(max_length=10)]
    """What versions gave, most votes first."""
    said: Literal["", "option", "value", "any"] = ""
    """Empty: nobody has answered it."""
    value: Line = ""
    by: Literal["", "person", "simulated", "later"] = ""


class EvidenceCriterion(Frozen):
    """One criterion of a rubric, and what the probe said of it; what people said is among their remarks."""

    name: Line
    what: Line
    points: Count
    of: Count
    by: Literal["probe", "person"]
    holds: bool | None = None
    """None: not judged."""
    cycle: Count | None = None
    """The first version in which it held and went on to hold."""
    why: Line = ""


class EvidenceCycle(Frozen):
    """One version of a page, and what came of it."""

    cycle: Count
    sha256: Hash
    repaired: Line = ""
    """What had to be done to the answer before it was code."""
    killed: Line = ""
    """Why the page was ended; empty: it was not."""
    errors: Count = 0
    findings: Annotated[tuple[Line, ...], Field(max_length=100)] = ()


class EvidencePage(Frozen):
    """A live page: where it ran, how it came about, and what its rubric gave."""

    case: Line = ""
    """The case that it was measured on; empty: a sentence alone."""
    criteria: Annotated[tuple[EvidenceCriterion, ...], Field(max_length=1000)] = ()
    points: Count = 0
    of: Count = 0
    cycles: Annotated[tuple[EvidenceCycle, ...], Field(max_length=MANY)] = ()
    browser: Literal["headless", "own"]
    """"own": a tab of the user's browser."""
    targets: Annotated[tuple[Line, ...], Field(max_length=100)] = ()
    """Loopback addresses that it could reach."""
    follow_ups: Count = 0
    context_sha256: Hash
    """Of what the model was told about the page's surroundings."""
    pictures: Annotated[tuple[Annotated[str, Field(pattern=_PICTURE)], ...], Field(max_length=1000)] = ()
    """The delivered files of these kinds: a picture of each version, and a short recording."""


class EvidenceModule(Frozen):
    """One module of an app: its files are in no other."""

    name: Dotted
    level: Count
    """What a module leans on has a lower one."""
    needs: Annotated[tuple[Dotted, ...], Field(max_length=100)] = ()
    files: Annotated[tuple[Name, ...], Field(max_length=MOST_TESTS)]
    kept: Annotated[tuple[Name, ...], Field(max_length=MOST_TESTS)] = ()
    """Those that the user changed; all others follow from the blueprint."""
    made_by: Literal["rules", "model", "both"]
    tests: Outcome | None = None
    """What its contract tests said; None: it has none of its own."""


class EvidenceFunction(Frozen):
    """A function of an app that no rule could build."""

    name: Dotted
    """ENTITY.NAME."""
    run: Line = ""
    """That wrote it; empty: nobody was asked, or it is from an earlier run."""
    verdict: Verdict | None = None
    code: Text = ""
    """Empty: the app does without it."""
    why: Line = ""


class EvidenceApp(Frozen):
    """A small web app: what it was made from, and how its parts came about."""

    blueprint: Text
    """As JSON. The files of all modules follow from it, the earlier ones and the functions."""
    earlier: Annotated[tuple[Text, ...], Field(max_length=100)] = ()
    """Of a follow-up: the blueprints before it, the oldest first: migrations lead from each to the next."""
    made_by: Literal["rules", "model", "both"]
    modules: Annotated[tuple[EvidenceModule, ...], Field(max_length=100)]
    functions: Annotated[tuple[EvidenceFunction, ...], Field(max_length=200)] = ()
    beside: Annotated[tuple[Name, ...], Field(max_length=MOST_TESTS)] = ()
    """What the user had written into files that had to be made anew."""


class Dossier(Frozen):
    """All that `evidence.json` says."""

    format: Literal["burnish evidence"] = "burnish evidence"
    version: int = VERSION
    run: EvidenceRun
    task: EvidenceTask
    verdict: Verdict | None
    """None: the run did not come to its end."""
    why: Line
    confidence: Annotated[float, Field(ge=0, le=1)] | None = None
    """How likely the code is right; None where nobody said, and in older evidence."""
    calibrated: bool = False
    """Whether that was fitted for the models that answered."""
    basis: Line = ""
    """What the confidence rests on."""
    repair: EvidenceRepair | None = None
    """None: the code was written anew, and stands alone."""
    page: EvidencePage | None = None
    """None: it is no page; so it is in evidence before 5."""
    app: EvidenceApp | None = None
    """None: it is no app; so it is in evidence before 6."""
    code: DeliveredCode | None
    """None: nothing could be delivered, or it is an app."""
    tests: Annotated[tuple[ListedTest, ...], Field(max_length=MOST_TESTS)] = ()
    checks: Annotated[tuple[CheckAnswer, ...], Field(max_length=100)] = ()
    models: Annotated[tuple[EvidenceModel, ...], Field(max_length=100)] = ()
    packages: Annotated[tuple[EvidencePackage, ...], Field(max_length=1000)] = ()
    """What the code could import besides Python's own; empty where that was nothing, and in older evidence."""
    tools: Annotated[dict[Line, Line], Field(max_length=100)] = Field(default_factory=dict)
    """Versions, by name. Empty where nobody noted them."""
    files: Annotated[dict[Name, Hash], Field(max_length=MOST_TESTS)] = Field(default_factory=dict)
    """The delivered files, this one not among them."""
    cost: RunCost
    people: Annotated[tuple[Remark, ...], Field(max_length=MANY)] = ()
    """What was said on the way, as it was said."""
    feedback: Annotated[tuple[FeedbackGiven, ...], Field(max_length=MANY)] = ()
    """What people thought of it, as it stood when this was written; empty in older evidence."""
    questions: Annotated[tuple[SettlingQuestion, ...], Field(max_length=100)] = ()
    """What versions disagreed on, as far as it was asked; empty in older evidence."""
    seal: Hash | Literal[""] = ""
    """Over all the rest."""

    @property
    def delivered(self) -> tuple[str, ...]:
        """The names that the delivered files must have: code, tests, report, a repair's diff, a page's pictures."""
        if self.app:
            files = (name for module in self.app.modules for name in module.files)
            return (REPORT, *files, *self.app.beside)
        pictures = self.page.pictures if self.page else ()
        if self.code is None:
            return (REPORT, *pictures)
        if self.page:
            return (PAGE_HTML, PAGE_JS, REPORT, *pictures)
        if self.repair is None:
            return (*name_files(self.task.module), REPORT)
        own = (self.repair.own_tests,) if self.repair.own_tests else ()
        return (self.repair.file, *self.repair.test_files, *own, DIFF, REPORT)

    @property
    def code_file(self) -> str:
        """The delivered file that holds the code."""
        if self.page:
            return PAGE_JS
        return self.repair.file if self.repair else name_files(self.task.module)[0]

    @property
    def test_file(self) -> str:
        """The delivered file of tests that this evidence lists as text; empty for a page, or if a repair has none."""
        if self.page:
            return ""
        return self.repair.own_tests if self.repair else name_files(self.task.module)[1]


def name_files(module: str) -> tuple[str, str]:
    """What the file of a module is called where it is delivered, and the file of its tests."""
    return f"{module.replace('.', '/')}.py", f"test_{module.rsplit('.', 1)[-1]}.py"


def hash_content(data: dict[str, Any]) -> str:
    """The hash over all but the seal itself: the same for the same content, whatever its order and layout were."""
    content = {key: value for key, value in data.items() if key != "seal"}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def render_dossier(dossier: Dossier) -> str:
    """The text of `evidence.json`: for people too, in ASCII, so that a model's words are harmless in a terminal."""
    return json.dumps(dossier.model_dump(mode="json"), indent=1, allow_nan=False) + "\n"
