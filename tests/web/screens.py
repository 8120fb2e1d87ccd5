"""Every screen that there is, filled with the worst that a person, a model or a file could say."""

import json
import re
import time
from dataclasses import dataclass

import httpx

from burnish.commands.train import trainings_home
from burnish.learn.recipe import METRICS, Recipe, write_recipe
from burnish.models.adapters import CARD, AdapterCard, Score, adapters_home
from burnish.text import strip_controls
from tests.support import block, script
from tests.web.conftest import HeldModel, Served
from tests.web.page_record import keep_page
from tests.web.test_evaluate_page import fake
from tests.web.test_uploads import make_zip

EVIL = "<img src=x onerror=alert(1)><script>alert(2)</script></script>\x1b[31m\u202eevil\u202c{{ 'ev' ~ 'il49' }}"
EVIL_CODE = (
    f'def double(n):\n    """{EVIL}"""\n    if n == 3:\n'
    f'        raise ValueError("<img src=x onerror=alert(3)>")\n    return n * n'
)
EVIL_TESTS = block('assert double("<img src=x onerror=alert(4)></code>") == 6\nassert double(0) == 0')
EVIL_SENTENCE = f"a function double(n) {EVIL}, e.g. double(2) == 4"
WAIT_SECONDS = 90.0


@dataclass(frozen=True)
class Filled:
    """What there is to be seen on a server."""

    run: str
    stopped: str
    page: str
    check: str
    evaluation: str
    other_evaluation: str
    training: str


def evil_script() -> dict[str, list[str]]:
    evil = f"<think>{EVIL}</think>\n{EVIL}\n{block(EVIL_CODE)}"
    return script(
        **dict.fromkeys(("draft", "rewrite", "repair", "reflect", "repeat", "syntax"), evil), tests=EVIL_TESTS
    )


def end_run(served: Served, client: httpx.Client, run_id: str, seconds: float = WAIT_SECONDS) -> None:
    """Wait for its verdict, and care for nothing that it asks."""
    until = time.monotonic() + seconds
    while (view := served.view(run_id)).state != "done":
        assert time.monotonic() < until, view.state
        if view.wish:
            form = {"kind": "question", "number": str(view.wish_number), "answer": "-"}
            client.post(f"/runs/{run_id}/reply", data=form)
        time.sleep(0.05)


def fill(served: Served, client: httpx.Client) -> Filled:
    """A run that is over, one that was stopped, a page, a check, two evaluations, a training and its adapter: all say
    what is evil.
    """
    served.models = [HeldModel(evil_script(), held="")]
    run = served.begin(client, EVIL_SENTENCE)
    end_run(served, client, run)
    said = client.post(f"/runs/{run}/feedback", data={"kind": "wrong", "words": strip_controls(EVIL), "by": "<img>"})
    assert said.status_code < 400, said.text
    served.models = [HeldModel(evil_script())]
    stopped = served.begin(client, EVIL_SENTENCE)
    served.wait_until(stopped, "asking")
    client.post(f"/runs/{stopped}/stop")
    files = {"evil/evil.py": EVIL_CODE, "evil/test_evil.py": f"from evil import double\n\ndef test_it():\n{BROKEN}"}
    upload = {"file": (f"{EVIL[:28]}.zip", make_zip(files))}
    sent = client.post("/check", data={"kind": "quick"}, files=upload)
    assert sent.status_code == 303, sent.text
    check = sent.headers["location"].removeprefix("/check/")
    until = time.monotonic() + WAIT_SECONDS
    while served.app.state.checks.find(check):
        assert time.monotonic() < until
        time.sleep(0.05)
    evaluations = [fake({"toy/1": [False, True], "toy/2": [False]}, text=EVIL, seeds=(0,)) for _ in range(2)]
    return Filled(run, stopped, keep_page(served.store, EVIL), check, *evaluations, keep_training())


def keep_training() -> str:
    """A training with a few updates, and an adapter whose card was written by somebody who means no good."""
    folder = trainings_home() / "evil"
    folder.mkdir(parents=True)
    write_recipe(Recipe(kind="grpo", base=f"huggingface:{strip_controls(EVIL)}", data=EVIL), folder)
    rows = [{"step": step, "loss": 2.0 - 0.1 * step, "reward": 0.1 * step} for step in range(1, 6)]
    (folder / METRICS).write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    adapter = adapters_home() / "evil"
    adapter.mkdir(parents=True)
    score = Score(what=EVIL, base=12.2, adapter=43.9)
    card = AdapterCard(name=EVIL, base=EVIL, sha256="", recipe=EVIL, scores=(score,))
    (adapter / CARD).write_text(card.model_dump_json())
    return folder.name


BROKEN = '    assert double(3) == 6, "<img src=x onerror=alert(4)>"\n'


def list_screens(served: Served, client: httpx.Client, filled: Filled) -> list[str]:
    """The address of every page that a person can come to; parts of pages, downloads and reports in frames are none."""
    known = {"run": filled.run, "check": filled.check, "evaluation": filled.evaluation, "number": "1", "kind": "pull"}
    known |= {"training": filled.training, "cycle": "1", "file": "1.png"}
    routes = [route for view in served.views for route in view.ROUTES if "GET" in (route.methods or ())]
    paths = [re.sub(r"{(\w+)(?::\w+)?}", lambda name: known[name[1]], route.path) for route in routes]
    run, evaluation = filled.run, filled.evaluation
    named = [
        f"/?from={run}",
        f"/runs/{filled.stopped}",
        f"/runs/{filled.page}",
        f"/pages?from={filled.page}",
        f"/compare?a={run}&b={filled.stopped}",
        f"/delete?run={run}",
        "/train/remove?name=evil",
        "/runs?search=%3Cimg%20src=x%20onerror=alert(6)%3E",
        f"/evaluate/compare?run={evaluation}&run={filled.other_evaluation}",
        f"/evaluate/{evaluation}/attempt?task=toy%2F1&seed=0",
    ]
    pages = []
    for path in (*paths, *named):
        said = None if path.endswith(("/events", "/report")) else client.get(path)
        if said and said.status_code == 200 and "<main" in said.text:
            pages.append(path)
        else:
            assert path not in named, f"{path}: {said}"
    return [*pages, "/runs/nowhere"]
