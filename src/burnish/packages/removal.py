"""How a folder goes that nobody may write in."""

import os
import shutil
from pathlib import Path


def remove(path: Path) -> None:
    """Away with a file or a folder, read-only or not; nothing happens if it is not there."""
    if not path.is_dir() or path.is_symlink():
        path.unlink(missing_ok=True)
        return
    for folder, _, _ in os.walk(path):
        Path(folder).chmod(0o755)
    shutil.rmtree(path)
