"""Near-misses: slips and traps are seen, the well-known themselves are left in peace."""

import pytest
from packaging.utils import canonicalize_name

from burnish.packages.names import count_slips, find_lookalike, well_known_date, well_known_names


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("reqeusts", "requests"),
        ("request", "requests"),
        ("python-requests", "requests"),
        ("requests-python", "requests"),
        ("pyrequests", "requests"),
        ("urlib3", "urllib3"),
        ("djang0", "django"),
        ("rnatplotlib", "matplotlib"),
        ("numppy", "numpy"),
        ("scikitlearn", "scikit-learn"),
        ("dateutil", "python-dateutil"),
        ("python3-dateutil", "python-dateutil"),
        ("yaml", "pyyaml"),
        ("sklearn", "scikit-learn"),
        ("jeilyfish", "jellyfish"),
        ("tenserflow", "tensorflow"),
        ("huggingface-hubs", "huggingface-hub"),
        ("setup-tools", "setuptools"),
        ("erquests", "requests"),
        ("equests", "requests"),
    ],
)
def test_slips_and_traps_are_seen(name: str, meant: str) -> None:
    assert find_lookalike(name) == meant


@pytest.mark.parametrize(
    "name",
    [
        "requests",
        "dask",
        "dash",
        "types-docopt",
        "google-cloud-dlp",
        "nvidia-cufft-cu13",
        "mask",
        "vyper",
        "surely-invented",
    ],
)
def test_the_well_known_and_the_merely_related_are_left_in_peace(name: str) -> None:
    assert find_lookalike(name) == ""


def test_the_list_is_in_normal_form_dated_and_as_long_as_it_says() -> None:
    assert well_known_names() == {canonicalize_name(name) for name in well_known_names()}
    assert well_known_date().year >= 2026
    assert len(well_known_names()) > 1000


def test_a_swap_is_one_slip() -> None:
    assert (count_slips("reqeusts", "requests"), count_slips("", "ab"), count_slips("abc", "abc")) == (1, 2, 0)
