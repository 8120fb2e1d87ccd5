"""`ollama:NAME`: a model that an Ollama server runs (the extra `[ollama]`).

Ollama cuts a prompt that is longer than its context from the front, and says nothing; so we set the context.
"""

import threading
from collections.abc import Iterator
from functools import cached_property
from importlib.metadata import version
from typing import Any

from burnish import config
from burnish.errors import PromptTooLong
from burnish.models.chat import CONNECT_SECONDS, SILENT_SECONDS, ChatModel
from burnish.models.counting import carefully, roughly, whole
from burnish.models.model import Ask
from burnish.models.ollama_server import about
from burnish.models.providers import Server
from burnish.models.room import smaller
from burnish.models.wire import under_control

LEAST_CONTEXT = 4096


class OllamaModel(ChatModel):
    """A model of an Ollama server. Opening it asks the server whether it has the model, and how much it can read."""

    optional = ("think", "seed", "top_k", "top_p", "min_p")

    def __init__(self, name: str, model: str, server: Server) -> None:
        super().__init__(name, model, server)
        self._about = about(server.address, model, name)
        told = config.load().context.get(name, 0)
        self._most_context = smaller(told, self._about.context)
        if told > self._most_context:
            self.remarks["context"] = (
                f"has room for {self._most_context:,} tokens, not for the {told:,} of the settings"
            )
        self._context = LEAST_CONTEXT
        self._lock = threading.Lock()

    @property
    def context(self) -> int:
        """Tokens that it can have in mind at most; 0 where the server does not say."""
        return self._most_context

    @property
    def engine(self) -> str:
        """What carries the answers, with its version."""
        return f"Ollama (langchain-ollama {version('langchain-ollama')})"

    def talk(self, ask: Ask, messages: list[tuple[str, str]]) -> Iterator[Any]:
        """LangChain's chunks of one answer; with thoughts only where there are tokens for them."""
        options = {
            "num_ctx": self.context_for(ask),
            "num_predict": min(ask.most_tokens, self._most_context - roughly(ask) if self._most_context else 1 << 30),
            "temperature": ask.temperature,
            "top_p": ask.top_p,
            "top_k": ask.top_k,
            "min_p": ask.min_p,
            "seed": ask.seed,
            "repeat_penalty": ask.repetition_penalty,
        }
        kept = {name: value for name, value in options.items() if name not in self.refused}
        thinks = bool(ask.thinking) if self._about.thinks and "think" not in self.refused else None
        return iter(self.chat.stream(messages, options=kept, reasoning=thinks))

    def context_for(self, ask: Ask) -> int:
        """Tokens of context for this ask: a power of two, never less than before, as a change loads the model anew."""
        room, read = self._most_context, max(roughly(ask), carefully(ask))
        if room and read >= room:
            raise PromptTooLong(f"the prompt has about {read} tokens; the engine has room for {room} in all")
        needed = max(2 * roughly(ask), carefully(ask)) + ask.most_tokens  # two bytes a token, or denser code
        with self._lock:
            while self._context < needed:
                self._context *= 2
            return min(self._context, room) if room else self._context

    @cached_property
    def chat(self) -> Any:
        """LangChain's chat model, which talks to this server and to nothing else."""
        import httpx
        from langchain_ollama import ChatOllama

        chat = ChatOllama(
            model=self.model,
            base_url=self.server.address,
            sync_client_kwargs={
                "trust_env": not self.server.is_here,
                "timeout": httpx.Timeout(SILENT_SECONDS, connect=CONNECT_SECONDS),
                **under_control(),
            },
        )
        _count_in_numbers(chat._client)
        return chat


def _count_in_numbers(client: Any) -> None:
    """Leave out of what Ollama says each count that is none; its client would break off a whole answer over it."""
    asked = client._request

    def cleaned(made: Any, told: dict[str, Any]) -> Any:
        numbers = {key for key in told if key.endswith(("_count", "_duration"))}
        return made(**{key: said for key, said in told.items() if key not in numbers or whole(said)})

    client._request = lambda made, *args, **more: asked(lambda **told: cleaned(made, told), *args, **more)
