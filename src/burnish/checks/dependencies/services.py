"""What two services say about packages: known advisories, and whether the index has a package and since when.

Advisories come through pip-audit. Its exit code is not asked: it leaves with success when it skipped a package, and
with failure both for a vulnerable package and for a service that did not answer. So every package asked about must come
back with its list of advisories, or it is a gap.

The index is the one that pip is set up with, spoken to by the simple API, as JSON (which tells when files were
uploaded) and as HTML (which does not), over http, https and in folders. Nothing is downloaded but the page of the
package; an index that does not answer leaves things unknown.
"""

import base64
import json
import re
import ssl
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import date, datetime
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import unquote, urlsplit, urlunsplit
from urllib.request import Request, url2pathname, urlopen

from packaging.utils import canonicalize_name
from packaging.version import Version

from burnish import paths
from burnish.checks.bench.check_context import CheckContext
from burnish.checks.dependencies.uses import Gap
from burnish.errors import CheckError
from burnish.events import Frozen
from burnish.packages.index_settings import has_no_index, read_pip_settings
from burnish.text import one_line

AUDIT_SECONDS = 60.0
AUDIT_OPTIONS = (
    *("--no-deps", "--disable-pip", "--format", "json", "--output", "-", "--progress-spinner", "off"),
    *("--timeout", "5", "--desc", "on", "--aliases", "on"),
)

Pin = tuple[str, str]
"""A package's name and one version of it."""
SOCKET_SECONDS = 5.0
PAGE_SECONDS = 10.0
ALL_SECONDS = 30.0
LARGEST_BYTES = 64 * 1024 * 1024
AT_ONCE = 8
_ACCEPT = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"
_FILE_LINK = re.compile(rb"<a\s[^>]*href\s*=[^>]*\.(?:whl|tar\.gz|zip|tgz|tar\.bz2|egg)\b", re.IGNORECASE)


class Advisory(Frozen):
    """Something known to be wrong with one version of a package."""

    id: str
    aliases: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    """Versions without it, oldest first."""
    about: str = ""
    version: str
    """The one that it is about."""

    @property
    def best_name(self) -> str:
        """Its best known name: the CVE if there is one."""
        return next((name for name in (self.id, *self.aliases) if name.startswith("CVE-")), self.id)


Advisories = tuple[Advisory, ...]


def ask_advisories(
    pins: Iterable[Pin], context: CheckContext, url: str = ""
) -> tuple[dict[Pin, Advisories], list[Gap]]:
    """The advisories for each pin. That pip-audit is missing, or crashed, or spoke in riddles, is a gap."""
    rounds: dict[int, dict[str, str]] = defaultdict(dict)  # pip-audit refuses two versions of one package at once
    for name, group in groupby(sorted(set(pins)), lambda pin: pin[0]):
        for number, (_, version) in enumerate(group):
            rounds[number][name] = version
    known: dict[Pin, Advisories] = {}
    gaps: list[Gap] = []
    try:
        for asked in rounds.values():
            with tempfile.TemporaryDirectory(prefix="burnish-audit-") as folder:
                pinned = Path(folder) / "requirements.txt"
                pinned.write_text("".join(f"{name}=={version}\n" for name, version in asked.items()), "utf-8")
                arguments = ["--requirement", str(pinned), *AUDIT_OPTIONS]
                arguments += ["--cache-dir", str(paths.cache() / "advisories")]
                arguments += ["--vulnerability-service", "osv", "--osv-url", url] if url else []
                report = context.tool("pip_audit", *arguments, timeout_seconds=AUDIT_SECONDS)
            answers, skipped = _read_report(asked, report)
            known |= answers
            gaps += skipped
    except CheckError as error:  # then no round counts
        return {}, [str(error)]
    return known, gaps


def _read_report(asked: dict[str, str], report: str) -> tuple[dict[Pin, Advisories], list[Gap]]:
    """One report of pip-audit, read strictly: whatever is not as it should be is no answer."""
    if not report.strip():
        raise CheckError("pip-audit gave no report; its advisory service did not answer, or not as it should")
    known: dict[Pin, Advisories] = {}
    skipped: dict[str, Gap] = {}
    try:
        for entry in json.loads(report)["dependencies"]:
            name = canonicalize_name(str(entry["name"]))
            if "skip_reason" in entry:
                skipped[name] = f"pip-audit skipped {name}: {one_line(str(entry['skip_reason']), 200)}"
            elif Version(str(entry["version"])) == Version(asked[name]):
                known[name, asked[name]] = tuple(
                    Advisory(
                        id=_word(one["id"]),
                        aliases=tuple(sorted(_word(alias) for alias in _list(one.get("aliases", [])))),
                        fixed=tuple(_word(version) for version in _list(one["fix_versions"])),
                        about=one_line(str(one.get("description", "")), 300),
                        version=asked[name],
                    )
                    for one in _list(entry["vulns"])
                )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise CheckError(f"pip-audit's report cannot be read: {type(error).__name__}") from error
    silent = [name for name, version in asked.items() if (name, version) not in known and name not in skipped]
    return known, [*skipped.values(), *(f"pip-audit said nothing about {name}" for name in silent)]


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError("not a list")
    return value


def _word(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise TypeError("not a word")
    return one_line(value, 80)


class IndexListing(Frozen):
    """What the index says about one name."""

    exists: bool | None = None
    """None when nobody could tell."""
    first_release: date | None = None
    """None when the index does not tell."""
    quarantined: bool = False
    """The index itself has locked it up."""
    why: str = ""
    """What stood in the way of an answer."""


class PackageIndex:
    """One or several addresses that pip would ask, and asks together: a package is there if any of them has it."""

    def __init__(self, urls: Iterable[str], cert: str = "") -> None:
        self.urls = tuple(urls)
        self.cert = cert

    def look(self, names: Iterable[str]) -> dict[str, IndexListing]:
        """What is known of each name, within a limit of time for all of them."""
        pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="burnish-index")
        asked = {name: pool.submit(self.listing, name) for name in names}
        answered = wait(asked.values(), timeout=ALL_SECONDS).done
        pool.shutdown(wait=False, cancel_futures=True)
        late = IndexListing(why="the package index took too long")
        return {name: future.result() if future in answered else late for name, future in asked.items()}

    def listing(self, name: str) -> IndexListing:
        """What the addresses say about a name, put together."""
        if not self.urls:
            return IndexListing(why="pip is set up without a package index")
        answers = [self._ask(url, name) for url in self.urls]
        having = [one for one in answers if one.exists]
        if not having:
            return next((one for one in answers if one.exists is None), answers[0])
        known = [one.first_release for one in having if one.first_release]
        return IndexListing(
            exists=True, first_release=min(known, default=None), quarantined=any(one.quarantined for one in having)
        )

    def _ask(self, url: str, name: str) -> IndexListing:
        try:
            kind, page = _read_folder(url, name) if url.startswith("file:") else _fetch_page(url, name, self.cert)
            if "json" in kind:
                said = json.loads(page)
                files, status = said["files"], said.get("project-status") or {}
                uploads = [datetime.fromisoformat(one["upload-time"]).date() for one in files if one.get("upload-time")]
                return IndexListing(
                    exists=bool(files),
                    first_release=min(uploads, default=None) if len(uploads) == len(files) else None,
                    quarantined=status.get("status") == "quarantined",
                )
            # A page with links to packages says that there are some; any other page is somebody else's.
            if kind != "folder" and not _FILE_LINK.search(page):
                raise ValueError("not the page of a package")
            return IndexListing(exists=True)
        except (FileNotFoundError, HTTPError) as error:
            if isinstance(error, FileNotFoundError) or error.code in {404, 410}:
                return IndexListing(exists=False)
            return IndexListing(why=f"the package index answered with error {error.code}")
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            return IndexListing(why=f"the package index did not answer as it should ({type(error).__name__})")


def look_up(names: Iterable[str], context: CheckContext, url: str = "") -> dict[str, IndexListing]:
    """What an index says of each name: the one at this address, or else the one that pip is set up with."""
    try:
        return (PackageIndex([url]) if url else configured_index(context)).look(names)
    except CheckError as error:
        return {name: IndexListing(why=str(error)) for name in names}


def configured_index(context: CheckContext) -> PackageIndex:
    """The index, and the extra ones, that pip is set up with. Raises CheckError when pip cannot be asked."""
    settings = read_pip_settings()
    if has_no_index(settings):
        return PackageIndex(())
    urls = settings.get("index-url", "").split()
    if not urls:  # where pip looks when nobody said otherwise, its help page tells
        page = context.tool("pip", "install", "--help", timeout_seconds=20)
        urls = re.findall(r"--index-url\b.*?\(default\s+(\S+?)\)", page, re.DOTALL)[:1]
    return PackageIndex((*urls, *settings.get("extra-index-url", "").split()), settings.get("cert", ""))


def _read_folder(url: str, name: str) -> tuple[str, bytes]:
    """The page of a package in an index that is a folder. FileNotFoundError: it has no such package."""
    root = Path(url2pathname(unquote(urlsplit(url).path)))
    if not root.is_dir():
        raise OSError("the folder of the index is not there")
    folder = root / name
    for page in (folder / "index.json", folder / "index.html"):
        if page.is_file():
            return page.suffix, page.read_bytes()
    if not folder.is_dir() or not any(folder.iterdir()):
        raise FileNotFoundError(name)
    return "folder", b""


def _fetch_page(url: str, name: str, cert: str) -> tuple[str, bytes]:
    """The kind and the text of a page on a server, within limits of time and size."""
    parts = urlsplit(f"{url.rstrip('/')}/{name}/")
    login, _, host = parts.netloc.rpartition("@")
    address = urlunsplit(parts._replace(netloc=host))
    if not address.startswith(("http://", "https://")):
        raise ValueError("not an address of an index")
    context = ssl.create_default_context(cafile=cert or None) if address.startswith("https:") else None
    deadline = time.monotonic() + PAGE_SECONDS
    request = Request(address, headers={"Accept": _ACCEPT})
    if login:
        # An index may send us elsewhere, and the login is for it alone.
        secret = base64.b64encode(unquote(login).encode()).decode()
        request.add_unredirected_header("Authorization", f"Basic {secret}")
    with urlopen(request, timeout=SOCKET_SECONDS, context=context) as page:
        read = bytearray()
        while piece := page.read1(1 << 16):
            read += piece
            if len(read) > LARGEST_BYTES or time.monotonic() > deadline:
                raise TimeoutError("the page is too long or too slow")
        return page.headers.get_content_type(), bytes(read)
