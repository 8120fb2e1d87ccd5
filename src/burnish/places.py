"""Where things are kept on this machine: what must last in `home`, what can be fetched again in `cache`."""

import os
from pathlib import Path


def home() -> Path:
    """The folder of runs and their index; `BURNISH_HOME` moves it. It may not exist yet."""
    return _folder("BURNISH_HOME", "user_data_dir")


def cache() -> Path:
    """The folder of weights and other things that can be fetched again; `BURNISH_CACHE` moves it."""
    return _folder("BURNISH_CACHE", "user_cache_dir")


def models() -> Path:
    """The folder of weights."""
    return cache() / "models"


def cores_lock() -> Path:
    """The file whose lock says which process generates. Nothing moves it: all of a user's processes must share it."""
    import platformdirs

    return Path(platformdirs.user_cache_dir("burnish", appauthor=False)) / "cores.lock"


def hub() -> str:
    """The address of the Hugging Face hub; `HF_ENDPOINT` names a mirror of it, as it does for every hub client."""
    return os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")


def _folder(variable: str, usual: str) -> Path:
    named = os.environ.get(variable)
    if named:
        return Path(named).expanduser().absolute()
    import platformdirs

    return Path(getattr(platformdirs, usual)("burnish", appauthor=False))
