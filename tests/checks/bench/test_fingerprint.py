"""Which files are frozen with a project's tests."""

from pathlib import Path

from burnish.checks.bench.bench import fingerprint

TESTS = ("tests/unit/test_cart.py::test_total[1]", "tests/unit/test_cart.py::test_tax", "shop/cart.py::shop.cart.f")


def test_any_change_to_a_test_file_or_a_conftest_above_it_shows(tmp_path: Path) -> None:
    source = Path("shop/cart.py")

    def now() -> tuple[tuple[str, str], ...]:
        return fingerprint(tmp_path, TESTS, source)

    for name in ("shop/cart.py", "tests/unit/test_cart.py", "tests/unit/test_other.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x = 1\n")
    seen = [now()]
    assert [file for file, _ in seen[0]] == ["tests/unit/test_cart.py"]
    for name in ("shop/cart.py", "tests/unit/test_other.py"):
        (tmp_path / name).write_text("x = 2\n")
    assert now() == seen[0], "the code may change, and so may tests that do not decide"
    for name in ("tests/unit/test_cart.py", "conftest.py", "tests/conftest.py", "tests/unit/conftest.py"):
        (tmp_path / name).write_text("x = 3\n")
        seen.append(now())
    (tmp_path / "tests/unit/test_cart.py").unlink()
    seen.append(now())
    assert len(set(seen)) == 6
