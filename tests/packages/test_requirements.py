"""What may be asked for: names and versions of packages that people know, and nothing else that pip would take."""

import pytest

from burnish.errors import SetupProblem
from burnish.packages import find_distribution, parse_requirements


def test_names_come_out_in_one_form_sorted_and_each_once() -> None:
    assert parse_requirements(["Pandas >=2, <3,numpy", "scikit_learn"]) == ("numpy", "pandas<3,>=2", "scikit-learn")
    assert parse_requirements("numpy>=1.20,numpy<3") == ("numpy<3,>=1.20",)
    assert parse_requirements(["requests[socks,security]==2.32.*, numpy"]) == (
        "numpy",
        "requests[security,socks]==2.32.*",
    )
    assert parse_requirements(["", " ", "numpy,"]) == ("numpy",)


@pytest.mark.parametrize("text", [",", "", " ", ", ,,"])
def test_words_that_name_no_package_are_not_taken_for_none_asked_for(text: str) -> None:
    with pytest.raises(SetupProblem, match=r": --with 'numpy,pandas>=2'$"):
        parse_requirements([text])
    assert parse_requirements([]) == ()


@pytest.mark.parametrize(
    "text",
    [
        "-r x",
        "--index-url=http://192.0.2.1",
        "-e .",
        ".",
        "./numpy",
        "/tmp/numpy-1.0-py3-none-any.whl",
        "numpy @ file:///tmp/numpy.whl",
        "numpy@https://user:secret@192.0.2.1/numpy.whl",
        "git+https://192.0.2.1/numpy",
        "numpy --pre",
        "numpy; python_version > '3'",
        "numpy\n-r x",
        "numpy[x @ file:///tmp/x]",
        "\x1b[31mnumpy",
        "numpy===2.0",
        "numpy===/tmp/numpy.whl",
        "numpy===https://192.0.2.1/numpy.whl",
    ],
)
def test_addresses_paths_options_and_conditions_are_refused(text: str) -> None:
    with pytest.raises(SetupProblem, match=r": --with 'numpy,pandas>=2'$") as told:
        parse_requirements([text], allow=[text])
    assert "secret" not in str(told.value)
    assert "\x1b" not in str(told.value)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("mylib @ git+https://oauth2:ghp_secret0123456789012345678901234567890@192.0.2.1/me/mylib.git", "mylib @…"),
        ("git+https://me:pa/secret@192.0.2.1/x", "git+https:…"),
        ("https://192.0.2.1/x.whl?token=secret", "https:…"),
        ("192.0.2.1/x.whl?token=secret", "192.0.2.1/x.whl?…"),
        ("git+ssh:\\\\me:secret@192.0.2.1", "git+ssh:…"),
        ("numpy,https://me:se,secret@192.0.2.1/x", "https:…"),
        ("numpy\n@https://me:secret@192.0.2.1/x", "numpy @…"),
        ("no requirement at all", "no requirement at all"),
    ],
)
def test_nothing_of_an_address_is_shown_as_there_may_be_a_password_anywhere_in_it(text: str, shown: str) -> None:
    with pytest.raises(SetupProblem) as told:
        parse_requirements([text])
    assert str(told.value).startswith(f"{shown!r} ")
    assert "secret" not in str(told.value)


def test_a_misspelled_name_gets_the_nearest_real_one() -> None:
    with pytest.raises(SetupProblem, match=r"--with numpy;.*: --allow-package numppy$"):
        parse_requirements(["numppy"])


def test_a_name_that_nobody_knows_needs_a_word_of_its_own() -> None:
    with pytest.raises(SetupProblem, match=r": --allow-package surely-invented$"):
        parse_requirements(["surely_invented>=2"])
    assert parse_requirements(["surely_invented>=2", "numpy"], allow=["Surely.Invented"]) == (
        "numpy",
        "surely-invented>=2",
    )


def test_the_name_of_an_archive_is_only_ever_a_name() -> None:
    assert parse_requirements(["evil.zip"], allow=["evil.zip"]) == ("evil-zip",)


@pytest.mark.parametrize(
    ("module", "package"),
    [
        ("PIL", "pillow"),
        ("PIL.Image", "pillow"),
        ("cv2", "opencv-python"),
        ("numpy", "numpy"),
        ("numpy.linalg", "numpy"),
        ("google.protobuf.message", "protobuf"),
        ("google", None),
        ("google.surely_invented", None),
        ("google.cloud", None),
        ("google.cloud.storage", "google-cloud-storage"),
        ("os.path", None),
        ("surely_invented", None),
        ("", None),
    ],
)
def test_a_module_is_traced_to_the_package_that_brings_it(module: str, package: str | None) -> None:
    assert find_distribution(module) == package
