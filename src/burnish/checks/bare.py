"""An environment that holds nothing: for code whose packages are those that were asked for, and no others.

Burnish's own environment has packages that are missing at the user's. Code that leans on one of them must fail here.
"""

import sys
import tempfile
from pathlib import Path

from burnish.checks.interpreter import Interpreter, interpreter
from burnish.sandbox.bubblewrap import interpreter as own_interpreter


def bare_environment(layer: str = "") -> Interpreter:
    """A new folder with the interpreter behind Burnish and no packages but those in `layer`, as a command sees it.

    Whoever asks for one removes its `environment` again.
    """
    real = own_interpreter()
    known = interpreter(real)
    folder = Path(tempfile.mkdtemp(prefix="burnish-bare-"))
    site = folder / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    for place in (folder / "bin", site):
        place.mkdir(parents=True)
    (folder / "bin" / "python").symlink_to(real)
    (folder / "pyvenv.cfg").write_text(f"home = {real.parent}\ninclude-system-site-packages = false\n", "utf-8")
    (site / "sitecustomize.py").touch()  # found before one in the layer, which would run at every start
    if layer:
        (site / "layer.pth").write_text(f"{layer}\n", "utf-8")
    folder.chmod(0o755)
    return Interpreter(folder / "bin" / "python", known.base, folder, known.homes)
