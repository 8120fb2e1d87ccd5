"""An engine with another kernel, as Docker Desktop and Colima are, in front of the real one of this machine.

`docker` in a folder of its own says that its containers run on another machine, and refuses whatever would need a
folder or a socket of this one. The image is this machine's Python under the name that such engines look for.
"""

import os
import shutil
import stat
import sys
from pathlib import Path

from burnish.sandbox.docker import command, engine
from tests.sandbox.own_image import import_own_image

IMAGE = f"{command.PYTHON_IMAGE}:{command.VERSION}"
WRAPPER = """#!{python} -I
import json, os, subprocess, sys
words = sys.argv[1:]
shared = [word for word in words if "type=bind" in word or word.startswith(("-v", "--volume"))]
if shared:
    sys.exit("docker: Error response from daemon: mounts denied: the path is not shared from the host: " + shared[0])
if words[:1] == ["info"]:
    done = subprocess.run(["{docker}", *words], capture_output=True)
    said = json.loads(done.stdout) | {{"KernelVersion": "6.10.14-linuxkit", "OperatingSystem": "Docker Desktop"}}
    print(json.dumps(said))
    sys.exit(done.returncode)
os.execv("{docker}", ["docker", *words])
"""


def put_before(folder: Path) -> Path:
    """A folder for the front of PATH; the image is there once this returns."""
    import_own_image(engine.find_engine(), IMAGE)
    wrapper = folder / "docker"
    wrapper.write_text(WRAPPER.format(python=os.path.realpath(sys.executable), docker=shutil.which("docker")))
    wrapper.chmod(wrapper.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    return folder
