"""Names of packages: which are well known, which module they bring, and which look like one and are not it.

Common knowledge, for code whose packages are not installed. A look-alike may be a slip of the finger, or a trap laid
for it.
"""

import re
import sys
from collections.abc import Callable, Iterable
from datetime import date
from functools import cache
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PYTHONS_OWN = sys.stdlib_module_names | {"__main__", "annotationlib", "compression"}
"""Modules of the standard library, those of newer Pythons too."""
NAMESPACES = {"google", "azure"}
"""Modules that many packages share, so that they do not say which of them is meant."""
_LIST = Path(__file__).with_name("well_known.txt")
PACKAGE_OF = {
    "Crypto": "pycryptodome",
    "Cryptodome": "pycryptodomex",
    "MySQLdb": "mysqlclient",
    "OpenGL": "pyopengl",
    "OpenSSL": "pyopenssl",
    "PIL": "pillow",
    "Xlib": "python-xlib",
    "_pytest": "pytest",
    "_yaml": "pyyaml",
    "absl": "absl-py",
    "airflow": "apache-airflow",
    "apiclient": "google-api-python-client",
    "attr": "attrs",
    "azure.core": "azure-core",
    "azure.identity": "azure-identity",
    "azure.storage.blob": "azure-storage-blob",
    "bs4": "beautifulsoup4",
    "community": "python-louvain",
    "cv2": "opencv-python",
    "dateutil": "python-dateutil",
    "discord": "discord.py",
    "dns": "dnspython",
    "docx": "python-docx",
    "dotenv": "python-dotenv",
    "engineio": "python-engineio",
    "faiss": "faiss-cpu",
    "fitz": "pymupdf",
    "gi": "pygobject",
    "git": "gitpython",
    "github": "pygithub",
    "gitlab": "python-gitlab",
    "google.auth": "google-auth",
    "google.genai": "google-genai",
    "google.generativeai": "google-generativeai",
    "google.oauth2": "google-auth",
    "google.protobuf": "protobuf",
    "googleapiclient": "google-api-python-client",
    "grpc": "grpcio",
    "haystack": "haystack-ai",
    "igraph": "python-igraph",
    "jose": "python-jose",
    "jwt": "pyjwt",
    "kafka": "kafka-python",
    "ldap": "python-ldap",
    "llama_cpp": "llama-cpp-python",
    "magic": "python-magic",
    "markdown_it": "markdown-it-py",
    "memcache": "python-memcached",
    "mpl_toolkits": "matplotlib",
    "multipart": "python-multipart",
    "mysql": "mysql-connector-python",
    "nacl": "pynacl",
    "onnxruntime": "onnxruntime",
    "osgeo": "gdal",
    "pkg_resources": "setuptools",
    "pptx": "python-pptx",
    "psycopg2": "psycopg2-binary",
    "pwn": "pwntools",
    "pythoncom": "pywin32",
    "pywintypes": "pywin32",
    "rapidjson": "python-rapidjson",
    "ruamel": "ruamel.yaml",
    "serial": "pyserial",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "slugify": "python-slugify",
    "snappy": "python-snappy",
    "socketio": "python-socketio",
    "socks": "pysocks",
    "speech_recognition": "speechrecognition",
    "telegram": "python-telegram-bot",
    "tensorflow": "tensorflow",
    "tlz": "toolz",
    "umap": "umap-learn",
    "usb": "pyusb",
    "websocket": "websocket-client",
    "win32api": "pywin32",
    "win32com": "pywin32",
    "win32con": "pywin32",
    "wx": "wxpython",
    "yaml": "pyyaml",
    "zmq": "pyzmq",
    "zope.interface": "zope.interface",
}
"""Modules whose package goes by another name."""
_PREFIX = re.compile(r"^(?:python[23]?-|py-|pip-|lib-)")
_SUFFIX = re.compile(r"-(?:python[23]?|py[23]?|lib|pip)$")
_LOOKALIKES = (("rn", "m"), ("vv", "w"), ("0", "o"), ("1", "l"), ("5", "s"), ("-", ""))
_MODULES: dict[str, str] = {
    canonicalize_name(module): package for module, package in PACKAGE_OF.items() if canonicalize_name(module) != package
}
"""A module's name taken for its package's: another package may lie in wait under it."""
ONE_SLIP, TWO_SLIPS = 5, 9
"""How long a word must be for one and for two slips to be a likeness; short words are all alike."""


@cache
def well_known_names() -> frozenset[str]:
    """The shipped list of well-known packages, in their normal form."""
    lines = _LIST.read_text("utf-8").splitlines()
    return frozenset(name for line in lines if not line.startswith("#") for name in line.split())


@cache
def well_known_date() -> date:
    """The day the list was made: what is on it was no newcomer then."""
    told = re.search(r"^# date: (\S+)", _LIST.read_text("utf-8"), re.MULTILINE)
    return date.fromisoformat(told[1]) if told else date.min


def find_distribution(module: str) -> str | None:
    """The well-known package that brings a module, in its normal form; None for Python's own and for strangers."""
    top = module.split(".")[0]
    if not top or top in PYTHONS_OWN:
        return None
    name = canonicalize_name(usual_package(module) or ("" if top in NAMESPACES else top))
    return name if name in well_known_names() else None


def module_provider(requirements: Iterable[str]) -> Callable[[str], bool]:
    """Says of a module whether one of these packages brings it, as far as its name tells."""
    names = {canonicalize_name(Requirement(text).name) for text in requirements}
    return lambda module: canonicalize_name(usual_package(module) or module.split(".")[0]) in names


def usual_package(module: str) -> str:
    """The package of a module that goes by another name; empty where none is known.

    A namespace of many packages says little by its first name; its packages go by the first two or three.
    """
    parts = module.split(".")
    if parts[0] in PACKAGE_OF:
        return PACKAGE_OF[parts[0]]
    if parts[:2] == ["google", "cloud"] and len(parts) > 2:
        return "-".join(parts[:3])
    return next((PACKAGE_OF[name] for end in (3, 2) if (name := ".".join(parts[:end])) in PACKAGE_OF), "")


@cache
def find_lookalike(name: str) -> str:
    """The well-known package that a normal name could be mistaken for; empty for none, and for the well-known."""
    if name in well_known_names():
        return ""
    if name in _MODULES:
        return canonicalize_name(_MODULES[name])
    alike = [known for known in well_known_names() if _is_like(name, known)]
    return min(alike, key=lambda known: (count_slips(name, known), known), default="")


def _is_like(name: str, known: str) -> bool:
    """Whether two different names differ as a slip or a trap would have them differ."""
    if abs(len(name) - len(known)) > 10:
        return False
    if _at_a_glance(name) == _at_a_glance(known):
        return True
    # Only a "python-" or "-py" more or less tells them apart.
    ours, theirs = _without_python(name), _without_python(known)
    if ours == theirs:
        return True
    if min(len(ours), len(theirs)) >= ONE_SLIP - 1 and (f"py{ours}" == theirs or ours == f"py{theirs}"):
        return True
    # Families share most of their words; what counts is where they differ, without what is in front and behind.
    words, known_words = name.split("-"), known.split("-")
    while len(words) > 1 and len(known_words) > 1 and words[0] == known_words[0]:
        words, known_words = words[1:], known_words[1:]
    while len(words) > 1 and len(known_words) > 1 and words[-1] == known_words[-1]:
        words, known_words = words[:-1], known_words[:-1]
    return _is_slip("-".join(words), "-".join(known_words))


@cache
def _at_a_glance(name: str) -> str:
    """How a name looks: look-alikes, doubled letters, separators and a plural make no difference."""
    for letters, others in _LOOKALIKES:
        name = name.replace(letters, others)
    name = re.sub(r"(.)\1+", r"\1", name)
    return name.removesuffix("s") if len(name) > ONE_SLIP - 1 else name


@cache
def _without_python(name: str) -> str:
    return _SUFFIX.sub("", _PREFIX.sub("", name))


def _is_slip(word: str, known: str) -> bool:
    """Whether so few letters differ that a finger may have done it."""
    allowed = 2 if len(known) >= TWO_SLIPS else 1 if len(known) >= ONE_SLIP else 0
    # People get the first letter right, or swap it, or leave it out; another one makes another word.
    begins_alike = word[:1] == known[:1] or word[:2] == known[1::-1] or word == known[1:]
    if abs(len(word) - len(known)) > allowed or not begins_alike:
        return False
    if not allowed:  # two letters swapped in a short word
        return len(known) == ONE_SLIP - 1 and sorted(word) == sorted(known) and count_slips(word, known) == 1
    return len(set(word) ^ set(known)) <= 2 * allowed and count_slips(word, known) <= allowed


def count_slips(one: str, other: str) -> int:
    """Letters added, left out, changed, or swapped with their neighbour, to make one word of the other."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, start=1):
        before, last, row = row, before, [i]
        for j, wanted in enumerate(other, start=1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != wanted))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == wanted:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
    return row[-1]
