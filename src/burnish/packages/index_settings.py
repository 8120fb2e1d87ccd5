"""Where the user's packages come from: read from pip's settings, and from uv's own, and told to uv.

Standard library only: the set-up of a clone loads this file before anything is installed. Addresses may hold passwords,
so they travel in the environment, which other users of the machine cannot see, and never on a command line.
"""

import configparser
import os
import sys
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

UV_VARIABLES = (
    *("UV_INDEX", "UV_DEFAULT_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS", "UV_HTTP", "UV_KEYRING_PROVIDER"),
    *("UV_INSECURE_HOST", "UV_SYSTEM_CERTS", "UV_NATIVE_TLS"),
)
"""How the variables begin that tell uv about an index. Others could change what is installed, or where."""
FOR_UV = {
    "index-url": ("UV_DEFAULT_INDEX",),
    "extra-index-url": ("UV_EXTRA_INDEX_URL",),
    "find-links": ("UV_FIND_LINKS",),
    "trusted-host": ("UV_INSECURE_HOST",),
    "cert": ("SSL_CERT_FILE",),
    "client-cert": ("SSL_CLIENT_CERT",),
    "proxy": ("HTTP_PROXY", "HTTPS_PROXY"),
    "default-timeout": ("UV_HTTP_TIMEOUT",),
    "timeout": ("UV_HTTP_TIMEOUT",),
    "retries": ("UV_HTTP_RETRIES",),
}
"""Settings of pip that say where packages are, and the variables by which uv learns the same."""


def read_pip_settings() -> dict[str, str]:
    """What pip's files and variables say, the strongest place counting.

    pip itself would tell, but takes half a second for it and need not be there. A file that cannot be read is left out.
    """
    found: dict[str, str] = {}
    for section in ("global", "install"):  # a weaker file outweighs a stronger one in the section of the command
        for file in _pip_files():
            parser = configparser.RawConfigParser()
            with suppress(OSError, UnicodeDecodeError, configparser.Error):
                parser.read_string(file.read_text("utf-8"))
            if parser.has_section(section):
                found |= {name.removeprefix("--").replace("_", "-"): value for name, value in parser.items(section)}
    told = {name[4:].lower().replace("_", "-"): value for name, value in os.environ.items() if name.startswith("PIP_")}
    return found | {name: value for name, value in told.items() if value}


def _pip_files() -> list[Path]:
    """Where pip looks for settings, from the weakest to the strongest."""
    named = os.environ.get("PIP_CONFIG_FILE", "")
    if named == os.devnull:
        return []
    system = [Path(place, "pip") for place in os.environ.get("XDG_CONFIG_DIRS", "/etc/xdg").split(":")]
    user = [Path.home() / ".pip", _config_home() / "pip"]
    folders = [*system, Path("/etc"), *([] if Path(named or "/nowhere").exists() else user), Path(sys.prefix)]
    return [*(folder / "pip.conf" for folder in folders), *([Path(named)] if named else [])]


def has_no_index(settings: Mapping[str, str]) -> bool:
    """Whether pip is told to look in folders of wheels only."""
    return settings.get("no-index", "").lower() in {"1", "true", "yes", "on"}


def uv_index(settings: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
    """Options and variables with which uv looks where pip would look; what the user tells uv itself counts more."""
    variables = {"UV_HTTP_RETRIES": "2"}
    for name, known_to_uv_as in FOR_UV.items():
        if value := settings.get(name, "").split():
            # uv tells several folders of wheels apart by commas, and several addresses by spaces.
            variables |= dict.fromkeys(known_to_uv_as, (("," if name == "find-links" else " ").join(value)))
    if settings.get("keyring-provider", "") in {"import", "subprocess"}:
        variables["UV_KEYRING_PROVIDER"] = "subprocess"
    # pip takes the best version that any of its indexes has, and uv only does so when asked to.
    variables["UV_INDEX_STRATEGY"] = "unsafe-best-match"
    for file in (Path("/etc/uv/uv.toml"), _config_home() / "uv" / "uv.toml"):
        with suppress(OSError, ValueError, AttributeError, TypeError, KeyError):
            variables |= _read_uv_file(tomllib.loads(file.read_text("utf-8")))
    variables |= {name: value for name, value in os.environ.items() if name.startswith(UV_VARIABLES)}
    return ["--no-index"] if has_no_index(settings) else [], variables


def _read_uv_file(settings: dict[str, Any]) -> dict[str, str]:
    """The indexes that a configuration file of uv's names, as variables; nothing else in it is heard."""
    settings = settings | settings.get("pip", {})
    usual = [one for one in settings.get("index", []) if not one.get("explicit")]
    found = {
        "UV_DEFAULT_INDEX": [*(one["url"] for one in usual if one.get("default")), settings.get("index-url", "")][:1],
        "UV_INDEX": ["=".join(filter(None, (one.get("name"), one["url"]))) for one in usual if not one.get("default")],
        "UV_EXTRA_INDEX_URL": settings.get("extra-index-url", []),
    }
    variables = {name: " ".join(values) for name, values in found.items()}
    variables["UV_FIND_LINKS"] = ",".join(settings.get("find-links", []))
    return {name: value for name, value in variables.items() if value}


def _config_home() -> Path:
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
