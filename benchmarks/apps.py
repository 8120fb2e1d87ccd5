"""A generated app under load, beside one written by hand with the same framework, and with one more module.

Run: .venv/bin/python benchmarks/apps.py [SECONDS]

All three serve on loopback, each in a process of its own, and are asked in turns: 1, 10 and 100 clients, 1,000 and
100,000 rows. A client lists, turns a page, searches, looks at a row, and adds one now and then. Prints p50, p95 and
errors, and fails where an answer is an error, or where 100 clients on 100,000 rows wait for a generated app more than
1.3 times as long (p95) as for the one by hand. SECONDS is the length of one measurement, 4 unless given.
"""

import asyncio
import copy
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from burnish.apps.blueprint import Blueprint
from burnish.apps.generate import REQUIREMENTS, generate_app
from burnish.apps.inside.serve_app import fill_table
from burnish.apps.page_reader import read_page
from burnish.packages import prepare_layer

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.apps.hand_app import make_hand_app  # noqa: E402
from tests.apps.test_blueprint import GOOD  # noqa: E402

CLIENTS, ROWS = (1, 10, 100), (1_000, 100_000)
SECONDS, LIMIT = 4.0, 1.3
START_SECONDS = 30.0
ADDED_EVERY = 20
"""Every so many-th request adds a row."""
PATHS = ("/tool", "/tool?page=2", "/tool?q=saw%20900", "/tool/1", "/loan", "/tool?view=few")


@dataclass(frozen=True)
class App:
    """An app that serves."""

    name: str
    address: str
    database: Path


@dataclass(frozen=True)
class Figures:
    """What one measurement gave."""

    p50: float
    p95: float
    answers: int
    errors: tuple[str, ...]
    """Statuses and failures that no client should see."""


def add_module() -> dict[str, Any]:
    """The blueprint with one more entity."""
    data = copy.deepcopy(GOOD)
    field = {"name": "text", "label": "Text", "type": "text"}
    data["entities"].append({"name": "hint", "label": "Hint", "plural": "Hints", "fields": [field]})
    return data


@contextmanager
def serve(name: str, files: Mapping[str, str], packages: Path) -> Iterator[App]:
    """The app in a process of its own, on a port of loopback."""
    with tempfile.TemporaryDirectory() as folder, socket.socket() as taken:
        for path, text in files.items():
            (Path(folder) / path).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / path).write_text(text)
        data = Path(folder) / "kept"
        data.mkdir()
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        taken.close()
        command = [sys._base_executable, "-m", "uvicorn", "app.main:app", "--port", str(port), "--no-access-log"]
        environment = {**os.environ, "PYTHONPATH": str(packages), "APP_DATA": str(data)}
        # A connection that the server ends while it is used again would be an error of nobody's.
        command += ["--log-level", "warning", "--timeout-keep-alive", "60"]
        with subprocess.Popen(command, cwd=folder, env=environment) as process:
            try:
                address = f"http://127.0.0.1:{port}"
                until = time.monotonic() + START_SECONDS
                while not answers(address):
                    assert time.monotonic() < until, f"{name} did not start"
                    assert process.poll() is None, f"{name} ended"
                    time.sleep(0.1)
                yield App(name, address, next(data.glob("*.sqlite")))
            finally:
                process.kill()


def answers(address: str) -> bool:
    try:
        return httpx.get(f"{address}/login").status_code == 200
    except httpx.TransportError:
        return False


def send_form(client: httpx.Client, path: str, action: str, values: Mapping[str, str]) -> None:
    """Fill in a form, as a person would."""
    form = read_page(client.get(path).text).find_form(action)
    assert form, f"{path} has no form"
    answer = client.post(action, data={**form.values, **values})
    assert answer.status_code == 303, (path, answer.status_code)


def prepare(app: App, rows: int) -> dict[str, str]:
    """Somebody logged in, and so many rows of each kind; the cookies."""
    account = {"email": f"load{rows}@example.org", "password": "correct horse 7"}
    with httpx.Client(base_url=app.address, timeout=60) as client:
        send_form(client, "/register", "/register", account)
        tool = {"name": f"saw {rows}", "state": "whole", "pieces": "9", "least": "1"}
        send_form(client, "/tool/new", "/tool", tool)
        loan = {"tool": "1", "starts": f"20{rows % 7 + 31}-01-01", "ends": f"20{rows % 7 + 31}-01-02"}
        send_form(client, "/loan/new", "/loan", loan)
        fill_table(str(app.database), "tool", rows, ["name"], {})
        fill_table(str(app.database), "loan", rows, [], {"tool": "tool"})
        return dict(client.cookies)


async def ask(client: httpx.AsyncClient, number: int, until: float, taken: list[float], csrf: str) -> list[str]:
    """One client, until the time is over; what went wrong."""
    errors, turn = list[str](), number
    while time.monotonic() < until:
        turn += 1
        began = time.perf_counter()
        try:
            if turn % ADDED_EVERY:
                status = (await client.get(PATHS[turn % len(PATHS)])).status_code
            else:
                values = {"name": f"new {number} {turn} {until}", "state": "whole", "pieces": "1", "least": "1"}
                status = (await client.post("/tool", data={**values, "csrf": csrf})).status_code
            errors += [] if status in (200, 303) else [f"{PATHS[turn % len(PATHS)]} answers {status}"]
        except httpx.HTTPError as error:
            errors.append(repr(error))
        taken.append(time.perf_counter() - began)
    return errors


async def put_load(app: App, cookies: Mapping[str, str], clients: int, seconds: float) -> Figures:
    """So many clients at once."""
    limits = httpx.Limits(max_connections=clients)
    async with httpx.AsyncClient(base_url=app.address, cookies=dict(cookies), timeout=60, limits=limits) as client:
        form = read_page((await client.get("/tool/new")).text).find_form("/tool")
        assert form
        taken: list[float] = []
        until = time.monotonic() + seconds
        errors = await asyncio.gather(*(ask(client, n, until, taken, form.values["csrf"]) for n in range(clients)))
    cuts = statistics.quantiles(taken, n=20)
    return Figures(statistics.median(taken), cuts[-1], len(taken), tuple(one for found in errors for one in found))


def measure(apps: list[App], rows: int, seconds: float) -> dict[tuple[str, int], Figures]:
    """All apps in turns, so that what else the machine does hits them alike."""
    cookies = {app.name: prepare(app, rows) for app in apps}
    found = {}
    for clients in CLIENTS:
        for app in apps:
            figures = found[app.name, clients] = asyncio.run(put_load(app, cookies[app.name], clients, seconds))
            ratio = figures.p95 / found["by hand", clients].p95
            print(
                f"{rows:>7,} rows, {clients:>3} clients, {app.name:<16} p50 {1000 * figures.p50:7.1f} ms, "
                f"p95 {1000 * figures.p95:7.1f} ms, {figures.answers:>5} answers, {len(figures.errors)} errors, "
                f"ratio {ratio:.2f} {'; '.join(figures.errors[:3])}",
                flush=True,
            )
    return found


def main(seconds: str = "") -> int:
    layer = prepare_layer(REQUIREMENTS)
    generated = {
        name: generate_app(Blueprint.model_validate(data))
        for name, data in (("generated", GOOD), ("one more module", add_module()))
    }
    with ExitStack() as served:
        files = {"by hand": make_hand_app(), **generated}
        apps = [served.enter_context(serve(name, texts, layer.folder)) for name, texts in files.items()]
        found = {rows: measure(apps, rows, float(seconds or SECONDS)) for rows in ROWS}
    errors = sum(len(one.errors) for figures in found.values() for one in figures.values())
    most = found[ROWS[-1]]
    ratio = max(most[name, CLIENTS[-1]].p95 for name in generated) / most["by hand", CLIENTS[-1]].p95
    print(json.dumps({"errors": errors, "ratio": round(ratio, 2), "limit": LIMIT}))
    return int(errors > 0 or ratio > LIMIT)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
