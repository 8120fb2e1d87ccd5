"""What is taken of an upload, and what is refused: for each refusal a good sample beside the planted bad one."""

import io
import os
import stat
import struct
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from burnish.checks.bench.project_finder import find_root
from burnish.errors import SetupProblem
from burnish.runs import Store
from burnish.runs.request import Request
from burnish.tasks import Task
from burnish.web.uploads import (
    KEPT_SECONDS,
    LIMITS,
    holds_tests,
    make_folder,
    note_run,
    put_code,
    read_python,
    remove_unneeded,
    unpack,
)
from burnish.zips import LONGEST, MOST_DEPTH

GOOD = {
    "shop/cart.py": "def total(prices):\n    return sum(prices)\n",
    "shop/tests/test_cart.py": "def test_x(): ...\n",
}


def make_zip(files: Mapping[str, str | bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip as a usual program makes it."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()


def make_odd_zip(name: str, mode: int, content: str) -> bytes:
    """A good file, and one that says it is something else than a file."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("good.py", "x = 1\n")
        info = zipfile.ZipInfo(name)
        info.external_attr, info.create_system = mode << 16, 3
        archive.writestr(info, content)
    return data.getvalue()


def make_overlapping(count: int) -> bytes:
    """Many entries that share the bytes of one file."""
    data = make_zip({"a.py": b"0" * 100_000})
    at = data.index(b"PK\x01\x02")
    entry, end = data[at : data.index(b"PK\x05\x06")], data[data.index(b"PK\x05\x06") :]
    entries = b"".join(entry.replace(b"a.py", f"{n:04}".encode()) for n in range(count))
    head = struct.pack("<4sHHHHIIH", end[:4], 0, 0, count, count, len(entries), at, 0)
    return data[:at] + entries + head


def lock(data: bytes) -> bytes:
    """The same zip, saying of its first file that it is locked."""
    changed = bytearray(data)
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        changed[data.index(mark) + place] |= 1
    return bytes(changed)


def rename(data: bytes, old: bytes, new: bytes) -> bytes:
    """The same zip with another name in it that no usual program would write."""
    assert len(old) == len(new)
    return data.replace(old, new)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "in" / "upload"
    place.mkdir(parents=True)
    return place


def test_a_folder_is_unpacked_as_it_is_and_is_a_project_of_its_own(folder: Path) -> None:
    root = unpack("My Shop.zip", make_zip(GOOD), folder)
    assert root == folder / "my-shop" / "shop"
    assert (root / "cart.py").read_text() == GOOD["shop/cart.py"]
    (folder.parent / "pyproject.toml").touch()
    assert find_root([root]) == root


def test_a_package_at_the_top_keeps_its_name(folder: Path) -> None:
    root = unpack("x.zip", make_zip({"shop/__init__.py": "", "shop/cart.py": "x = 1\n"}), folder)
    assert (root / "shop" / "cart.py").is_file()


def test_what_belongs_to_a_machine_is_left_out(folder: Path) -> None:
    more = {
        "shop/.venv/bin/python": "#!/bin/sh\ntouch /tmp/x\n",
        "__MACOSX/shop/._cart.py": "x",
        "shop/.git/config": "",
    }
    root = unpack("x.zip", make_zip(GOOD | more), folder)
    assert sorted(path.name for path in root.iterdir()) == ["cart.py", "pyproject.toml", "tests"]


def test_nothing_that_is_unpacked_can_be_started(folder: Path) -> None:
    root = unpack("x.zip", make_odd_zip("run.sh", stat.S_IFREG | 0o777, "#!/bin/sh\n"), folder)
    assert not os.access(root / "run.sh", os.X_OK) or os.getuid() == 0
    assert not (root / "run.sh").stat().st_mode & 0o111


BAD_ZIPS = {
    "up": (make_zip({"../x.py": "x"}), "out of the folder"),
    "up in the middle": (make_zip({"a/../../x.py": "x"}), "out of the folder"),
    "from the top": (make_zip({"/etc/x.py": "x"}), "out of the folder"),
    "a drive": (make_zip({"C:x.py": "x"}), "out of the folder"),
    "backslashes": (make_zip({"..\\x.py": "x"}), "out of the folder"),
    "a zero byte": (rename(make_zip({"aXb.py": "x"}), b"aXb", b"a\0b"), "cannot be seen"),
    "a line end": (make_zip({"a\nb.py": "x"}), "cannot be seen"),
    "an escape code": (make_zip({"a\x1b[31mb.py": "x"}), "cannot be seen"),
    "right to left": (make_zip({"a\u202eyp.b": "x"}), "cannot be seen"),
    "a long name": (make_zip({f"{'a' * LONGEST}.py": "x"}), "too long"),
    "deep folders": (make_zip({f"{'a/' * MOST_DEPTH}x.py": "x"}), "too many folders"),
    "a link": (make_odd_zip("link", stat.S_IFLNK | 0o777, "/etc/passwd"), "a link or a device"),
    "a device": (make_odd_zip("null", stat.S_IFCHR | 0o666, ""), "a link or a device"),
    "a pipe": (make_odd_zip("pipe", stat.S_IFIFO | 0o666, ""), "a link or a device"),
    "locked": (lock(make_zip({"a.py": "x"})), "password"),
    "odd packing": (make_zip({"a.py": "x" * 100}, zipfile.ZIP_LZMA), "unusual way"),
    "a bomb": (make_zip({"a.py": b"0" * 30_000_000}), "far more"),
    "too large": (make_zip({"a.bin": os.urandom(2**20) * 60}, zipfile.ZIP_STORED), "far more"),
    "files in files": (make_overlapping(500), "files within files"),
    "too many": (make_zip({f"{n}.py": "" for n in range(LIMITS.entries + 1)}), "more than"),
    "twice": (rename(make_zip({"a.py": "x", "b.py": "y"}), b"b.py", b"a.py"), "under one name"),
    "a file as folder": (make_zip({"a": "x", "a/b.py": "y"}), "under one name"),
    "empty": (make_zip({}), "is empty"),
    "only folders": (make_zip({"a/": ""}), "is empty"),
    "no zip": (b"not a zip at all", "no zip"),
    "nothing": (b"", "no zip"),
    "cut off": (make_zip(GOOD)[:200], "no zip"),
    "damaged": (make_zip({"a.py": "x" * 1000}, zipfile.ZIP_STORED).replace(b"xxxx", b"xxxy", 1), "no zip"),
}


@pytest.mark.parametrize("name", BAD_ZIPS)
def test_a_zip_that_could_do_harm_is_refused_with_one_sentence(name: str, folder: Path) -> None:
    data, why = BAD_ZIPS[name]
    before = {path for path in folder.parent.parent.rglob("*") if not path.is_relative_to(folder)}
    with pytest.raises(SetupProblem, match=why) as refused:
        unpack("x.zip", data, folder)
    assert "\n" not in str(refused.value)
    assert {path for path in folder.parent.parent.rglob("*") if not path.is_relative_to(folder)} == before
    assert sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) <= LIMITS.unpacked_bytes


def test_a_zip_that_lies_about_its_size_is_counted_while_it_unpacks(folder: Path) -> None:
    data = bytearray(make_zip({"a.py": b"0" * 30_000_000}))
    struct.pack_into("<I", data, data.index(b"PK\x01\x02") + 24, 10)
    with pytest.raises(SetupProblem, match="no zip|far more"):
        unpack("x.zip", bytes(data), folder)
    assert sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) < 2_000_000


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("../cart.py", b"x = 1"),
        ("a\\b.py", b"x = 1"),
        ("a\nb.py", b"x = 1"),
        (".hidden.py", b"x = 1"),
        (f"{'a' * LONGEST}.py", b"x = 1"),
        ("cart.txt", b"x = 1"),
        ("cart.py", b"\xff\xfe\x00"),
        ("cart.py", b"# coding: latin-1\nx = 1"),
        ("cart.py", b"a\0b"),
        ("cart.py", b"  \n"),
    ],
)
def test_what_is_no_python_is_refused_and_a_good_file_is_taken(name: str, data: bytes) -> None:
    assert read_python("cart.py", b"x = 1\n") == "x = 1\n"
    with pytest.raises(SetupProblem):
        read_python(name, data)


def test_tests_are_told_from_lines_and_from_nonsense() -> None:
    assert holds_tests("def test_x():\n    assert f(1) == 2\n")
    assert not holds_tests("f(1) == 2\n")
    with pytest.raises(SetupProblem, match="line 2"):
        holds_tests("def test_x():\n    assert f(1 == 2\n")


TOTAL = "def total(prices):\n    return sum(prices)\n"


@pytest.mark.parametrize(
    ("name", "tests", "place", "is_added"),
    [
        ("", "def test_x():\n    assert total([1]) == 1\n", "solution.py", True),
        ("", "from cart import total\ndef test_x(): ...\n", "cart.py", False),
        ("", "import pytest\nimport cart\ndef test_x(): ...\n", "cart.py", False),
        ("", "from shop.cart import total\ndef test_x(): ...\n", "shop/cart.py", False),
        ("cart.py", "from shop.cart import Cart\ndef test_x(): ...\n", "shop/cart.py", False),
        ("cart (1).py", "from cart import total\ndef test_x(): ...\n", "cart.py", False),
        ("basket.py", "from cart import total\ndef test_x(): ...\n", "cart.py", False),
        ("basket.py", "import numpy\ndef test_x(): ...\n", "basket.py", True),
        ("cart.py", "", "cart.py", False),
    ],
)
def test_code_lies_where_its_tests_import_it(name: str, tests: str, place: str, is_added: bool, folder: Path) -> None:
    file, beside = put_code(folder, TOTAL, name, tests)
    assert file == folder / "project" / place
    assert file.read_text() == TOTAL
    assert bool(beside) == bool(tests)
    if tests:
        assert (beside[0].read_text() != tests) == is_added
    assert find_root([file]) == folder / "project"


def test_an_upload_is_private_and_goes_where_nothing_came_of_it(store: Store) -> None:
    with make_folder(store) as kept:
        (kept / "x.py").touch()
    for place in (kept, kept.parent, store.folder):
        assert stat.S_IMODE(place.stat().st_mode) == 0o700
    assert kept.is_relative_to(store.folder)
    with pytest.raises(SetupProblem), make_folder(store) as gone:
        raise SetupProblem("no")
    assert not gone.exists()
    assert kept.exists()


def test_a_full_disk_is_said(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SetupProblem, match="cannot be kept"), make_folder(store):
        raise OSError(28, "No space left on device")


def make_old(folder: Path) -> None:
    long_ago = time.time() - KEPT_SECONDS - 60
    os.utime(folder, (long_ago, long_ago))


def test_uploads_go_with_their_run_and_with_time_and_an_unfinished_run_keeps_its_own(store: Store) -> None:
    folders = {}
    for name in ("young", "old", "deleted", "unfinished"):
        with make_folder(store) as folders[name]:
            pass
    run_id, record = store.begin("fix-x")
    from burnish.runs.attempt import Resources, begin_run

    record.append(begin_run(Request(task=Task(id="x", prompt="x")), Resources(store=store), run_id, ""))
    record.close()
    note_run(folders["unfinished"], run_id)
    note_run(folders["deleted"], "gone-1234")
    make_old(folders["old"])
    make_old(folders["unfinished"])
    remove_unneeded(store)
    assert {name for name, folder in folders.items() if folder.exists()} == {"young", "unfinished"}
    store.remove(run_id)
    remove_unneeded(store)
    assert not folders["unfinished"].exists()


def test_the_limits_on_zips_hold_for_what_a_repair_copies() -> None:
    from burnish.checks.final import MOST_BYTES, MOST_FILES

    assert LIMITS.unpacked_bytes <= MOST_BYTES
    assert LIMITS.entries <= MOST_FILES
