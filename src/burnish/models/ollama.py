"""`ollama:NAME`: a model that an Ollama server runs (the extra `[ollama]`).

Ollama cuts a prompt that is longer than its context from the front, and says nothing; so we set the context.
"""

import threading
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from burnish import config
from burnish.errors import PromptTooLong
from burnish.models.chat import CONNECT_SECONDS, SILENT_SECONDS, ChatModel
from burnish.models.discovery import describe_ollama_model
from burnish.models.http import client_settings
from burnish.models.model import Ask
from burnish.models.providers import ModelServer
from burnish.models.tokens import estimate_prompt_tokens, guess_prompt_tokens, read_count, smallest_known

LEAST_CONTEXT = 4096


class OllamaModel(ChatModel):
    """A model of an Ollama server. Opening it asks the server whether it has the model, and how much it can read."""

    protocol = "Ollama"
    optional = ("think", "seed", "top_k", "top_p", "min_p")

    def __init__(self, name: str, model: str, server: ModelServer) -> None:
        super().__init__(name, model, server)
        described = describe_ollama_model(server.address, model, name)
        wanted = config.load().context.get(name, 0)
        self.context = smallest_known(wanted, described.context)
        """Tokens of question and answer that it can read at most; 0 where the server does not say."""
        if wanted > self.context:
            self.remarks["context"] = f"has room for {self.context:,} tokens, not for the {wanted:,} of the settings"
        self._thinks = described.thinks
        self._loaded_context = LEAST_CONTEXT
        self._lock = threading.Lock()

    def request(self, ask: Ask, messages: list[tuple[str, str]]) -> Iterator[Any]:
        """LangChain's chunks of one answer; with thoughts only where there are tokens for them."""
        room = self.context - guess_prompt_tokens(ask) if self.context else ask.most_tokens
        options = {
            "num_ctx": self.context_for(ask),
            "num_predict": min(ask.most_tokens, room),
            "temperature": ask.temperature,
            "top_p": ask.top_p,
            "top_k": ask.top_k,
            "min_p": ask.min_p,
            "seed": ask.seed,
            "repeat_penalty": ask.repetition_penalty,
        }
        thinks = bool(ask.thinking) if self._thinks and "think" not in self.refused else None
        return iter(self.chat.stream(messages, options=self.drop_refused(options), reasoning=thinks))

    def context_for(self, ask: Ask) -> int:
        """Tokens of context for this ask: a power of two, never less than before, as a change loads the model anew."""
        guess, estimate = guess_prompt_tokens(ask), estimate_prompt_tokens(ask)
        if self.context and max(guess, estimate) >= self.context:
            raise PromptTooLong(
                f"the prompt has about {max(guess, estimate)} tokens; the engine has room for {self.context} in all"
            )
        needed = max(2 * guess, estimate) + ask.most_tokens  # two bytes a token, or denser code
        with self._lock:  # asks come from several threads
            while self._loaded_context < needed:
                self._loaded_context *= 2
            return smallest_known(self._loaded_context, self.context)

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
                **client_settings(),
            },
        )
        client: Any = chat._client
        request = client._request

        def clean_counts(kind: Any, fields: dict[str, Any]) -> Any:
            """Leave out each count that is none; Ollama's client would break off a whole answer over it."""
            counts = {key for key in fields if key.endswith(("_count", "_duration"))}
            return kind(**{key: value for key, value in fields.items() if key not in counts or read_count(value)})

        client._request = lambda kind, *args, **more: request(
            lambda **fields: clean_counts(kind, fields), *args, **more
        )
        return chat
