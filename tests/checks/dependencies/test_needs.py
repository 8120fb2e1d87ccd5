"""What the code needs: imports wherever they stand, requirements whatever they look like."""

from pathlib import Path

import pytest

from burnish.checks.dependencies.uses import Gap, PackageUse, UsedPackage, find_imported, find_required, group_uses
from burnish.checks.dependencies.uses import read_environment as installed_in
from burnish.checks.project import Project
from tests.checks.dependencies.conftest import Make, install
from tests.snapshots import assert_snapshot


def names(project: Project, *stated: str) -> list[tuple[str, int, bool]]:
    found = find_imported(project, installed_in(project.python), stated)
    return sorted((use.name, use.line, use.optional) for use in found if isinstance(use, PackageUse))


def wanted(root: Path) -> list[tuple[str, str, int, bool]]:
    return [
        (use.name, use.pinned, use.line, use.optional) for use in find_required(root) if isinstance(use, PackageUse)
    ]


def gaps(root: Path) -> list[str]:
    return [gap for gap in find_required(root) if isinstance(gap, Gap)]


def test_imports_are_found_in_functions_branches_and_calls(make: Make) -> None:
    code = (
        "import os, requests\n"
        "def f():\n    from yaml import load\n"
        "class A:\n    import importlib\n    x = importlib.import_module('cv2.dnn')\n"
        "y = __import__('bs4')\n"
        "z = __import__('not a module')\n"
    )
    assert names(make({"app.py": code})) == [
        ("beautifulsoup4", 7, False),
        ("opencv-python", 6, False),
        ("pyyaml", 3, False),
        ("requests", 1, False),
    ]


def test_imports_that_the_code_does_without_are_optional(make: Make) -> None:
    code = (
        "try:\n    import ujson\nexcept ImportError:\n    import simplejson\n"
        "if TYPE_CHECKING:\n    import pandas\n"
        "if sys.version_info < (3, 11):\n    import tomli\n"
        "try:\n    import numpy\nexcept KeyError:\n    pass\n"
    )
    assert names(make({"app.py": code})) == [
        ("numpy", 10, False),
        ("pandas", 6, True),
        ("simplejson", 4, True),
        ("tomli", 8, True),
        ("ujson", 2, True),
    ]


def test_relative_imports_and_the_projects_own_modules_are_no_packages(make: Make) -> None:
    project = make(
        {
            "src/shop/__init__.py": "from . import cart\nfrom .. import x\nimport shop.cart\nimport space.deep\n",
            "src/shop/cart.py": "import tool\nimport conf_of_mine\n",
            "src/space/deep.py": "",
            "tool.py": "",
            "conf_of_mine/settings.py": "",
        }
    )
    assert names(project) == []


def test_inside_a_package_a_sibling_does_not_hide_a_package(make: Make) -> None:
    project = make({"shop/__init__.py": "", "shop/yaml.py": "", "shop/a.py": "import yaml\n"})
    assert names(project) == [("pyyaml", 1, False)]


def test_packages_that_share_a_namespace_are_told_apart(make: Make, environment: Path) -> None:
    install(environment, "google-auth", "2.0", "google/auth/__init__.py", "google/auth/jwt.py")
    install(environment, "protobuf", "5.0", "google/protobuf/__init__.py")
    project = make({"app.py": "from google import protobuf\nimport google.auth.jwt\nimport google.cloud.storage\n"})
    assert names(project) == [
        ("google-auth", 2, False),
        ("google-cloud-storage", 3, False),
        ("protobuf", 1, False),
    ]


def test_a_requirement_makes_the_better_guess(make: Make) -> None:
    project = make({"app.py": "import psycopg2, cv2\n"})
    assert [name for name, _, _ in names(project)] == ["opencv-python", "psycopg2-binary"]
    better = names(project, "psycopg2", "opencv-python-headless")
    assert [name for name, _, _ in better] == ["opencv-python-headless", "psycopg2"]


def test_what_is_installed_is_read_and_never_run(make: Make, environment: Path, tmp_path: Path) -> None:
    install(environment, "Evil_Thing", "1.0+local", "evil_thing.py")
    site = next((environment.parent.parent / "lib").glob("*/site-packages"))
    (site / "evil_thing.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    (site / "evil.pth").write_text(f"import pathlib; pathlib.Path({str(tmp_path / 'ran')!r}).touch()\n")
    (site / "sitecustomize.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    (site / "broken-1.dist-info").mkdir()
    (site / "binary-1.dist-info").mkdir()
    (site / "binary-1.dist-info" / "METADATA").write_bytes(b"\xff\xfe\x00")
    assert installed_in(environment).versions == {"evil-thing": "1.0"}
    assert names(make({"app.py": "import evil_thing\n"})) == [("evil-thing", 1, False)]
    assert not (tmp_path / "ran").exists()


def test_a_package_from_a_folder_cannot_be_audited() -> None:
    use = PackageUse(name="mine", file="app.py", line=1)
    package = UsedPackage(name="mine", uses=(use,), installed="1.0", elsewhere=True)
    assert_snapshot(package.unaudited, "dependencies/from a folder")


def test_requirements_are_read_with_their_lines(make: Make) -> None:
    text = (
        "# top\nRequests[socks] == 2.19.0 ; python_version >= '3'  # why\n"
        "flask==2.* \\\n  --hash=sha256:abc\n\npandas>=1\ntomli==2; python_version < '3'\n"
        "-r requirements/more.in\n-c constraints.txt\n-e .\n./vendored\n"
    )
    project = make({"requirements.txt": text, "requirements/more.in": "-r ../requirements.txt\nclick==8.1\n"})
    assert wanted(project.root) == [
        ("requests", "2.19.0", 2, False),
        ("flask", "", 3, False),
        ("pandas", "", 6, False),
        ("tomli", "2", 7, True),
        ("click", "8.1", 2, False),
    ]
    assert gaps(project.root) == []


def test_what_an_extra_brings_need_not_be_there(make: Make, environment: Path) -> None:
    text = '[project]\nname = "a"\n[project.optional-dependencies]\nml = ["torch>=2", "a[other]"]\n'
    project = make({"pyproject.toml": text, "app.py": "def f():\n    import torch\n"})
    installed = installed_in(environment)
    uses = [
        use for use in (*find_required(project.root), *find_imported(project, installed)) if isinstance(use, PackageUse)
    ]
    (torch,) = group_uses(uses, installed)
    assert (torch.needed, torch.idle, torch.unaudited, torch.place.line) == (False, False, "", 4)


def test_dependencies_in_pyproject_are_read_and_the_project_itself_is_none(make: Make) -> None:
    text = '[project]\nname = "My_Shop"\ndependencies = [\n  "pyyaml==5.3",\n  "my-shop[extra]",\n]\n'
    assert wanted(make({"pyproject.toml": text}).root) == [("pyyaml", "5.3", 4, False)]


@pytest.mark.parametrize(
    "text", ["[project\n", "project = 3\n", "[project]\ndependencies = 7\n", '[project]\nname = "a"\x00']
)
def test_a_pyproject_that_cannot_be_read_is_a_gap(make: Make, text: str) -> None:
    (gap,) = gaps(make({"pyproject.toml": text}).root)
    assert "pyproject.toml" in gap


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("outside", "-r ../../etc/passwd"),
        ("outside by its whole path", "-r /etc/passwd"),
        ("missing", "--requirement=missing.txt"),
        ("address", "https://evil.invalid/a.whl"),
        ("address", "https://evil.invalid/a.whl?token=secret"),
        ("name with an address", "odd @ https://me:se/secret@evil.invalid/a whl"),
        ("file at an address", "-r https://me:secret@evil.invalid/a.txt"),
        ("folder outside", "/etc"),
        ("editable outside", "-e ../elsewhere"),
        ("variable", "${NAME}"),
        ("words", "a b c"),
        ("condition", "name==1; nonsense == 2"),
    ],
)
def test_lines_that_cannot_be_judged_are_gaps(make: Make, kind: str, line: str, tmp_path: Path) -> None:
    (gap,) = gaps(make({"requirements.txt": f"{line}\n"}).root)
    assert_snapshot(gap, f"dependencies/requirement: {kind}", tmp=tmp_path)
    assert "secret" not in gap


def test_a_link_out_of_the_project_is_not_followed(make: Make, tmp_path: Path) -> None:
    root = make({"app.py": ""}).root
    (tmp_path / "outside.txt").write_text("requests==2.19.0\n")
    (root / "requirements.txt").symlink_to(tmp_path / "outside.txt")
    assert wanted(root) == []
    assert_snapshot(gaps(root)[0], "dependencies/requirements file outside", tmp=tmp_path)


def test_a_file_that_is_no_text_or_too_large_is_a_gap(make: Make) -> None:
    root = make({"app.py": ""}).root
    (root / "requirements.txt").write_bytes(b"\xff\x00\xfe")
    (root / "requirements-big.txt").write_text("# \n" * 1_000_000)
    assert len(gaps(root)) == 2
