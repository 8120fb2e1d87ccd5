"""A virtual environment that holds nothing: for code whose packages are those that were asked for, and no others.

Burnish's own environment has packages that are missing at the user's. Code that leans on one of them must fail here.
"""

import platform
import shutil
import sys
import tempfile
from pathlib import Path

from burnish.checks.bench.interpreter import Interpreter
from burnish.sandbox.bubblewrap import find_interpreter as own_interpreter


def make_bare_venv(layer: str = "") -> Interpreter:
    """A new folder with the interpreter behind Burnish and no packages but those in `layer`, as a command sees it.

    Whoever asks for one removes its `environment` again.
    """
    real = own_interpreter()
    folder = Path(tempfile.mkdtemp(prefix="burnish-bare-"))
    fill_bare_venv(folder, real, platform.python_version(), layer)
    folder.chmod(0o755)
    return Interpreter(folder / "bin" / "python", (Path(sys.base_prefix),), folder)


def fill_bare_venv(folder: Path, python: Path, version: str, layer: str = "") -> None:
    """Make the folder a bare environment of this interpreter, which may lie in an image, whatever it was before."""
    shutil.rmtree(folder / "bin", ignore_errors=True)
    site = folder / "lib" / f"python{'.'.join(version.split('.')[:2])}" / "site-packages"
    for place in (folder / "bin", site):
        place.mkdir(parents=True, exist_ok=True)
    (folder / "bin" / "python").symlink_to(python)
    (folder / "pyvenv.cfg").write_text(f"home = {python.parent}\ninclude-system-site-packages = false\n", "utf-8")
    (site / "sitecustomize.py").touch()  # found before one in the layer, which would run at every start
    if layer:
        (site / "layer.pth").write_text(f"{layer}\n", "utf-8")
