"""`local:…`: llama.cpp inside this process, spoken to through its own server's address.

One server per weights file and process, shared by all callers. Processes take turns at the cores: llama.cpp's threads
spin while they wait for each other, so two of them side by side are many times slower than one after the other.
"""

import atexit
import re
import sys
import sysconfig
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any, Self

from burnish import config
from burnish.errors import ModelError, SetupProblem, blame
from burnish.models.adapters import Adapter, split_adapter
from burnish.models.catalog import CATALOG, LARGER
from burnish.models.http import read_prompt_too_long
from burnish.models.model import Ask, Chunk, Done, Piece, Waiting
from burnish.models.stream_thread import POLL_SECONDS, Answer, end_at_stop, stream_in_thread, wait_for_weights
from burnish.models.tokens import smallest_known
from burnish.no_telemetry import disable_tracing
from burnish.system import count_cores, take_lock

SLOTS = 4
CONTEXT_TOKENS_PER_SLOT = 4096
SPECULATION = ("NGRAM_SIMPLE", "NGRAM_MOD")
"""Speculative decoding guesses the next tokens from where the last few came before, in this prompt or in any other.

A repair repeats most of the code it was shown, and guessed tokens are looked at together, which is faster. Each token
is still the model's own, but looking at several rounds otherwise than looking at one, so a near tie may fall the other
way: greedy answers are not always the same as without. Therefore off unless asked for.
"""
POST_SECONDS = 10.0

ALL_THAT_FIT = -1
"""How llama.cpp calls as many layers as the GPU has memory for."""

_servers: dict["LlamaSettings", "LlamaServer"] = {}
_servers_lock = threading.Lock()


class CpuLock:
    """A lock between processes that the threads of one process hold together. Freed by the kernel if we die.

    Whoever wants the cores takes the turn first, a lock of its own, and gives it back with the cores in hand. So a
    process that has just had them waits behind one that waited meanwhile, and its threads cannot join each other for
    ever.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._holders = 0
        self._turn: IO[bytes] | None = None
        self._cores: IO[bytes] | None = None

    @classmethod
    @cache
    def of_this_machine(cls) -> Self:
        """The lock that every Burnish of this user shares, whatever `BURNISH_CACHE` says."""
        import platformdirs

        return cls(Path(platformdirs.user_cache_dir("burnish", appauthor=False)) / "cores.lock")

    def acquire(self) -> bool:
        """Whether the cores are ours now; waits for nobody. Who stops asking before that says so with `give_up`."""
        with self._lock:
            try:
                self._turn = self._turn or _lock_file(self.path.with_suffix(".turn"))
                if self._turn and not self._holders:
                    self._cores = _lock_file(self.path)
                ours = self._turn is not None and self._cores is not None
            except OSError:  # nowhere to keep a lock: generate without taking turns rather than not at all
                ours = True
            self._holders += ours
            if ours:
                self._pass_turn()
            return ours

    def release(self) -> None:
        """Let go; the last of this process's holders frees the lock."""
        with self._lock:
            self._holders -= 1
            if self._holders == 0 and self._cores:
                self._cores.close()
                self._cores = None

    def give_up(self) -> None:
        """Let others have the turn. Another thread of this process that waits takes it anew."""
        with self._lock:
            self._pass_turn()

    def _pass_turn(self) -> None:
        if self._turn:
            self._turn.close()
            self._turn = None


def _lock_file(path: Path) -> IO[bytes] | None:
    """The open file with its lock; None where another process has it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.open("wb")
    if take_lock(file):
        return file
    file.close()
    return None


@cache
def load_openmp() -> None:
    """Load libgomp.so.1, which xllamacpp needs. On a bare system, the set-up has put a copy with our packages.

    Raises SetupProblem where there is none.
    """
    import ctypes

    for library in ("libgomp.so.1", Path(sysconfig.get_path("purelib"), "libgomp.so.1")):
        with suppress(OSError):
            ctypes.CDLL(str(library))
            break
    else:
        if sys.platform == "linux":
            raise SetupProblem(
                "The embedded model needs libgomp.so.1, which this system lacks; it is in the package libgomp1. Type",
                "sudo apt-get install libgomp1",
            )


@cache
def list_gpus() -> tuple[str, ...]:
    """The GPUs that llama.cpp's build here can compute on. None with the usual wheel: it is built for processors."""
    load_openmp()
    import xllamacpp

    found = xllamacpp.get_device_info()
    return tuple(f"{device['name']} ({device['description']})" for device in found if "GPU" in device["type"].name)


@dataclass(frozen=True)
class LlamaSettings:
    """What one embedded server is started with."""

    weights: Path
    speculate: bool = False
    context: int = CONTEXT_TOKENS_PER_SLOT
    """Tokens for each of the slots."""
    gpu_layers: int | str = config.AUTO
    adapter: Path | None = None
    """A LoRA in GGUF, on or off for each ask."""

    @property
    def layers_on_gpu(self) -> int:
        """How many layers a GPU computes; none where there is no GPU, whatever is set."""
        if not self.gpu_layers or not list_gpus():
            return 0
        return ALL_THAT_FIT if self.gpu_layers == config.AUTO else int(self.gpu_layers)


class LlamaServer:
    """The embedded llama.cpp server for one weights file; loads once, in the background."""

    def __init__(self, settings: LlamaSettings) -> None:
        self.settings = settings
        self.ready = threading.Event()
        self.problem: Exception | None = None
        self._llama: Any = None
        threading.Thread(target=self._load, name="burnish-load", daemon=True).start()

    def _load(self) -> None:
        try:
            import xllamacpp

            threads = min(count_cores(), 8)
            params: Any = xllamacpp.CommonParams()
            params.model.path = str(self.settings.weights)
            params.n_parallel = SLOTS
            params.n_ctx = SLOTS * self.settings.context
            params.n_gpu_layers = self.settings.layers_on_gpu
            params.cpuparams.n_threads = threads
            params.cpuparams_batch.n_threads = threads
            params.n_threads_http = SLOTS * 2
            params.verbosity = 0
            params.ui = False
            params.endpoint_slots = False
            if self.settings.adapter:
                params.lora_adapters = [xllamacpp.CommonAdapterLoraInfo(str(self.settings.adapter), 1.0)]
            if self.settings.speculate:
                kinds = xllamacpp.common_speculative_type
                params.speculative.types = [kinds[f"COMMON_SPECULATIVE_TYPE_{name}"] for name in SPECULATION]
            self._llama = xllamacpp.Server(params)
            atexit.register(self._end)
            with suppress(ImportError):
                import langchain_openai  # noqa: F401  # a second of imports, while the weights are read anyway
        except Exception as error:
            self.problem = error
        self.ready.set()

    def _end(self) -> None:
        """Stop the server's threads: one that still writes an answer which was left would crash Python at its exit."""
        self._llama = None

    @property
    def address(self) -> str:
        """Where the server listens: a free port of the loopback interface."""
        return str(self._llama.listening_address)

    @cached_property
    def http(self) -> Any:
        """A client that asks no proxy, though the user's shell may name one for other programs."""
        import openai

        return openai.DefaultHttpxClient(trust_env=False, timeout=None)

    @cached_property
    def chat(self) -> Any:
        """A LangChain chat model that talks to this server and to nothing else."""
        from langchain_openai import ChatOpenAI

        return ChatOpenAI(
            model="local",
            base_url=f"{self.address}/v1",
            api_key=lambda: "none",
            http_client=self.http,
            openai_proxy=None,
            max_retries=0,
            stream_usage=True,
            use_responses_api=False,
        )

    def post(self, path: str, question: dict[str, Any], seconds: float = POST_SECONDS) -> dict[str, Any]:
        """What one of the server's own addresses answers."""
        answer = self.http.post(f"{self.address}{path}", json=question, timeout=seconds)
        return dict(answer.raise_for_status().json())


def server_for(settings: LlamaSettings) -> LlamaServer:
    """The process's one server with these settings, started if need be."""
    load_openmp()
    with _servers_lock:
        server = _servers.get(settings)
        if server is None or server.problem:
            server = _servers[settings] = LlamaServer(settings)
        return server


class LocalModel:
    """An embedded model. Loads at the first ask, or earlier with `warm_up`."""

    slots = SLOTS

    def __init__(self, name: str, weights: Path, speculate: bool = False, adapter: Adapter | None = None) -> None:
        self.name = name
        self.weights = weights
        self.adapter = adapter
        self.context = local_context(split_adapter(name)[0])
        changed = adapter.gguf if adapter else None
        self.settings = LlamaSettings(weights, speculate, self.context, config.load().gpu_layers, changed)
        self._cpu_lock = CpuLock.of_this_machine()

    @property
    def engine(self) -> str:
        """What computes the answers, with its version and how coarse the weights are."""
        bits = re.search(r"(?i)(?<![a-z0-9])(?:i?q\d\w*|b?f16|f32)(?=\.gguf$)", self.weights.name)
        coarse = f", {bits[0].lower()}" if bits else ""
        ahead = ", guessing ahead" if self.settings.speculate else ""
        layers = self.settings.layers_on_gpu
        gpu = f", {'all' if layers < 0 else layers} layers on {list_gpus()[0]}" if layers else ""
        trained = f", {self.adapter.label}" if self.adapter else ""
        return f"llama.cpp (xllamacpp {version('xllamacpp')}{ahead}){coarse}{gpu}{trained}"

    def warm_up(self) -> None:
        """Begin to read the weights while the caller does something else."""
        server_for(self.settings)

    def close(self) -> None:
        """The server stays for the process's next caller."""

    def stream(self, ask: Ask, cancel: threading.Event) -> Iterator[Piece]:
        """The answer, as it is written."""
        server = server_for(self.settings)
        yield from wait_for_weights(server.ready, cancel)
        if cancel.is_set():
            return
        if server.problem:
            raise ModelError(f"llama.cpp could not load {self.weights.name}: {server.problem}") from server.problem
        why, ours = "another Burnish process is generating; waiting for the cores", False
        try:
            while not (ours := self._cpu_lock.acquire()):
                yield Waiting(why=why, is_idle=True)
                why = ""
                if cancel.wait(POLL_SECONDS):
                    return
            changes = {"lora": [{"id": 0, "scale": float(self.adapter.answers(ask.purpose))}]} if self.adapter else {}
            answer = stream_in_thread(_answer(server, ask, changes), cancel, _translate)
            # Stop strings are looked for here: llama.cpp's chat protocol does not say whether one ended the answer.
            yield from end_at_stop(answer, ask, self.counted)
        finally:
            if ours:
                self._cpu_lock.release()
            else:
                self._cpu_lock.give_up()

    def counted(self, ask: Ask, text: str) -> Done:
        """What an answer cost of which this much was read, by the server's own tokenizer."""
        server = server_for(self.settings)
        messages = [message.model_dump() for message in ask.messages]
        with blame(ModelError, "counting tokens"):
            prompt = server.post("/apply-template", {"messages": messages})["prompt"]
            read = server.post("/tokenize", {"content": prompt, "add_special": True, "parse_special": True})
            written = server.post("/tokenize", {"content": text})
        return Done(tokens_in=len(read["tokens"]), tokens_out=len(written["tokens"]), ended="enough")


def local_context(name: str) -> int:
    """Tokens that an embedded model reads at once: as set, and never more than it was made for, where that is known."""
    known = {**CATALOG, **LARGER}.get(name)
    wanted = config.load().context_of(name) or CONTEXT_TOKENS_PER_SLOT
    return smallest_known(wanted, known.context if known else 0)


def _answer(server: LlamaServer, ask: Ask, more: dict[str, Any]) -> Answer:
    usage: dict[str, int] = {}
    end_reason = ""
    with disable_tracing():
        for part in server.chat.stream(
            [(message.role, message.content) for message in ask.messages],
            temperature=ask.temperature,
            top_p=ask.top_p,
            max_tokens=ask.max_tokens,
            seed=ask.seed,
            extra_body={
                "top_k": ask.top_k,
                "min_p": ask.min_p,
                "repeat_penalty": ask.repetition_penalty,
                "repeat_last_n": server.settings.context,
                **ask.response_format,
                **more,
            },
        ):
            usage = part.usage_metadata or usage
            end_reason = part.response_metadata.get("finish_reason") or end_reason
            if part.content:
                yield Chunk(text=part.content)
    yield Done(
        tokens_in=usage.get("input_tokens", 0),
        tokens_out=usage.get("output_tokens", 0),
        ended="length" if end_reason == "length" else "stop",
    )


def _translate(error: BaseException) -> BaseException:
    if too_long := read_prompt_too_long(error):
        return too_long
    try:
        with blame(ModelError, "the embedded model broke off"):
            raise error
    except BaseException as translated:
        return translated
