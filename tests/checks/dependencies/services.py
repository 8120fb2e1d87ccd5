"""A server on this machine that speaks as the public services do: advisories (OSV's query) and a simple index (JSON).

The advisories are real ones, shortened to what the protocol needs.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from packaging.version import Version

ADVISORIES = {
    "requests": ("GHSA-x84v-xcm2-53pg", ("CVE-2018-18074", "PYSEC-2018-28"), "2.20.0", "Credentials sent over http"),
    "pyyaml": ("GHSA-8q59-q68h-6hv4", ("CVE-2020-14343", "PYSEC-2021-142"), "5.4", "Improper input validation"),
    "jinja2": ("GHSA-g3rq-g295-4j3m", ("CVE-2020-28493", "PYSEC-2021-66"), "2.11.3", "Slow regular expression"),
    "urllib3": ("GHSA-mh33-7rrq-662w", ("CVE-2019-11324", "PYSEC-2019-133"), "1.24.2", "Certificates mishandled"),
}
DAYS_OLD = {"requests": 5000, "pyyaml": 5000, "jinja2": 5000, "urllib3": 5000, "humanize": 3000, "protobuf": 4000}
DAYS_OLD |= {"fresh-thing": 2, "quiet-little-thing": 900, "reqeusts": 700, "google-auth": 3000}


def affected(name: str, version: str) -> list[dict[str, object]]:
    """What OSV's query answers with for one version."""
    if name not in ADVISORIES or Version(version) >= Version(ADVISORIES[name][2]):
        return []
    identity, aliases, fixed, summary = ADVISORIES[name]
    ranges = [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": fixed}]}]
    package = {"name": name, "ecosystem": "PyPI"}
    one = {"id": identity, "aliases": list(aliases), "summary": summary, "schema_version": "1.6.0"}
    return [{**one, "affected": [{"package": package, "ranges": ranges}]}]


def page(name: str, days: int) -> dict[str, object]:
    """What a simple index says about a package of two releases, the first of them so many days old."""
    now = datetime.now(UTC)
    uploads = [now - timedelta(days=days), now]
    files = [
        {"filename": f"{name}-{n}.tar.gz", "url": f"../{n}", "hashes": {}, "upload-time": at.isoformat()}
        for n, at in enumerate(uploads)
    ]
    return {"meta": {"api-version": "1.1"}, "name": name, "files": files}


class Handler(BaseHTTPRequestHandler):
    """Answers both protocols; every request is remembered."""

    asked: list[str]

    def do_POST(self) -> None:
        query = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        name, version = query["package"]["name"], query["version"]
        self.asked.append(f"{name}=={version}")
        found = affected(name, version)
        self._say(200, {"vulns": found} if found else {})

    def do_GET(self) -> None:
        name = self.path.strip("/").split("/")[-1]
        self.asked.append(name)
        if name in DAYS_OLD:
            self._say(200, page(name, DAYS_OLD[name]))
        else:
            self._say(404, {"message": "Not Found"})

    def _say(self, code: int, told: object) -> None:
        body = told if isinstance(told, bytes) else json.dumps(told).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/vnd.pypi.simple.v1+json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nobody reads along."""


class Broken(Handler):
    """A service in trouble."""

    def do_POST(self) -> None:
        self._say(503, {"message": "try later"})

    do_GET = do_POST


class Babbling(Handler):
    """A service that answers with something else, as the login page of a hotel does."""

    def do_POST(self) -> None:
        self._say(200, b"<html><a href='/login'>welcome</a></html>")

    do_GET = do_POST


class Services:
    """Where the services listen, and what they were asked."""

    def __init__(self, server: ThreadingHTTPServer, asked: list[str]) -> None:
        self.asked = asked
        self.address = f"http://127.0.0.1:{server.server_address[1]}"
        self.osv, self.index = f"{self.address}/v1/query", f"{self.address}/simple"


@contextmanager
def serving(kind: type[Handler] = Handler) -> Iterator[Services]:
    """Both services, for as long as the block lasts."""
    asked: list[str] = []
    handler = type("Serving", (kind,), {"asked": asked})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield Services(server, asked)
        server.shutdown()
