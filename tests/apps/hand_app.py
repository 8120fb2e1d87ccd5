"""A built app written by hand, to judge before there is a generator and beside it: see `hand/main.py`."""

from pathlib import Path

from burnish.apps.blueprint import Blueprint
from burnish.packages import Layer, prepare_layer
from tests.apps.test_blueprint import GOOD
from tests.support import ROOT

HAND = Path(__file__).parent / "hand"
REQUIREMENTS = ("fastapi", "sqlalchemy", "jinja2", "uvicorn", "python-multipart")
BLUEPRINT = Blueprint.model_validate(GOOD)
CONTRACT_TEST = """
def test_the_app_can_be_imported(tmp_path, monkeypatch):
    monkeypatch.setenv("APP_DATA", str(tmp_path))
    from app.main import app

    assert app.routes
"""


def make_hand_app(*holes: str) -> dict[str, str]:
    """Its files; each hole makes it bad in one way."""
    main = (HAND / "main.py").read_text("utf-8")
    css = (HAND / "app.css").read_text("utf-8")
    missing = [hole for hole in holes if f'"{hole}"' not in main and f"'{hole}'" not in main and hole != "no_dark"]
    assert not missing, missing
    static = "app/static"
    return {
        "app/__init__.py": "",
        "app/main.py": main.replace("HOLES: frozenset[str] = frozenset()", f"HOLES = frozenset({holes!r})"),
        f"{static}/app.css": css.replace("@media (", "@media print and (") if "no_dark" in holes else css,
        f"{static}/htmx.min.js": (ROOT / "src/burnish/web/static/htmx.min.js").read_text("utf-8"),
        f"{static}/throws.js": "throw new Error('thrown');",
        "tests/test_app.py": CONTRACT_TEST,
    }


def prepare_hand_layer() -> Layer:
    """The packages that it needs."""
    return prepare_layer(REQUIREMENTS)
