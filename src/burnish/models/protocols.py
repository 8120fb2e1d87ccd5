"""The three protocols that servers speak, each through LangChain: OpenAI's (`openai:NAME`, vLLM, LM Studio,
llama-server), Anthropic's (the extra `[anthropic]`) and Ollama's (the extra `[ollama]`).

LangChain's chat models are made to talk to one server and to nothing else, and to survive what a server may count.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from types import SimpleNamespace
from typing import Any

from burnish import config
from burnish.errors import PromptTooLong
from burnish.models.chat import PREFILL, ChatModel
from burnish.models.discovery import describe_ollama_model
from burnish.models.http import client_settings
from burnish.models.model import Ask
from burnish.models.providers import ModelServer
from burnish.models.tokens import (
    estimate_prompt_tokens,
    guess_prompt_tokens,
    read_count,
    read_counts,
    smallest_known,
)

TEMPLATE = "chat_template"
"""How a server calls what it refuses where a model's chat template takes no settings."""
FREE_SERVERS_ONLY = ("top_k", "min_p", "repeat_penalty", "repetition_penalty", TEMPLATE)
"""Parameters that free servers know and OpenAI does not."""
LEAST_BUDGET = 1024
"""Tokens for thoughts that an older model of Anthropic's must be given, if any."""
READ_KEYS = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
"""Everything that was read: Anthropic counts what comes from a cache, or goes there, beside the rest."""
LEAST_CONTEXT = 4096


class OpenAIModel(ChatModel):
    """A model behind OpenAI's protocol. OpenAI itself does not go on from a begun answer, and says nothing about it."""

    protocol = "OpenAI protocol"
    optional = (*ChatModel.optional, *FREE_SERVERS_ONLY, "max_tokens", "stream_options", "reasoning_effort")

    def __init__(self, name: str, model: str, server: ModelServer) -> None:
        super().__init__(name, model, server)
        if not server.continues:
            self.refused.add(PREFILL)

    def request(self, ask: Ask, messages: list[tuple[str, str]]) -> Iterator[Any]:
        """LangChain's chunks of one answer."""
        extra = {} if self.server.is_official else self.drop_refused(self._free_server_parameters(ask))
        extra |= self.bind_schema(ask)  # LangChain would read an answer by its own parser, were it among the others
        return iter(
            self.chat.stream(
                messages,
                max_tokens=ask.most_tokens,
                extra_body=extra or None,
                stream_usage="stream_options" not in self.refused,
                **self.drop_refused(self.parameters(ask)),
            )
        )

    def parameters(self, ask: Ask) -> dict[str, Any]:
        """How to draw, where the model takes such settings; and the lowest effort where no thoughts are wanted."""
        known, levels = self.profile, self.profile.get("reasoning_effort_levels") or []
        parameters: dict[str, Any] = {"seed": ask.seed, "stop": list(ask.stop) or None}
        if known.get("temperature", True):
            parameters |= {"temperature": ask.temperature, "top_p": ask.top_p}
        if levels and not ask.thinking:
            parameters["reasoning_effort"] = levels[0]
        return parameters

    def _free_server_parameters(self, ask: Ask) -> dict[str, object]:
        """What free servers take beside the usual. They may know `max_tokens` by its old name only."""
        extra: dict[str, object] = {"max_tokens": ask.most_tokens, "top_k": ask.top_k, "min_p": ask.min_p}
        if ask.repetition_penalty != 1:
            extra |= {"repeat_penalty": ask.repetition_penalty, "repetition_penalty": ask.repetition_penalty}
        if not ask.thinking and TEMPLATE not in self.refused:  # a model that does not think ignores it
            extra[f"{TEMPLATE}_kwargs"] = {"enable_thinking": False}
        return extra

    @cached_property
    def chat(self) -> Any:
        """LangChain's chat model, which talks to this server and to nothing else."""
        import openai
        from langchain_openai import ChatOpenAI

        class ChatOpenAIWithThoughts(ChatOpenAI):
            """LangChain's, which drops the thoughts that free servers send beside the answer; this one keeps them."""

            def _convert_chunk_to_generation_chunk(self, chunk: dict[str, Any], *args: Any, **more: Any) -> Any:
                generated = super()._convert_chunk_to_generation_chunk(chunk, *args, **more)
                delta = (chunk.get("choices") or [{}])[0].get("delta") or {}
                thought = delta.get("reasoning_content") or delta.get("reasoning")
                if generated is not None and isinstance(thought, str) and thought:
                    generated.message.additional_kwargs["reasoning_content"] = thought
                return generated

        chat = ChatOpenAIWithThoughts(
            model=self.model,
            base_url=self.server.address,
            api_key=lambda: self._key or "none",
            http_client=openai.DefaultHttpxClient(**client_settings(self.server)),
            openai_proxy=None,
            max_retries=0,  # chat.py tries again, so that a reader sees it and can cancel
            use_responses_api=False,
        )
        create = chat.client.create

        @contextmanager
        def create_with_clean_counts(**question: Any) -> Iterator[Iterator[dict[str, Any]]]:
            """A stream of plain data, of whose counts only numbers are left: another would end the answer."""
            with create(**question) as stream:
                # LangChain would dump the chunks itself, with a warning for each value of an unexpected type.
                chunks = (chunk.model_dump(warnings=False) for chunk in stream)
                yield ({**chunk, "usage": read_counts(chunk.get("usage"))} for chunk in chunks)

        chat.client.create = create_with_clean_counts
        return chat


class AnthropicModel(ChatModel):
    """A model behind Anthropic's protocol. Older ones go on from a begun answer; newer ones refuse it, and say so."""

    protocol = "Anthropic protocol"
    optional = ("temperature", "thinking", "effort", "stop")

    @property
    def least_thinking(self) -> int:
        """Tokens below which it refuses to have thoughts; newer models see for themselves how much to think."""
        return 0 if self.profile.get("reasoning_effort_levels") else LEAST_BUDGET

    def request(self, ask: Ask, messages: list[tuple[str, str]]) -> Iterator[Any]:
        """LangChain's chunks of one answer."""
        if messages[-1][0] == "assistant":  # a begun answer must not end in white space
            messages = [*messages[:-1], ("assistant", messages[-1][1].rstrip())]
        parameters = self.drop_refused(self.parameters(ask)) | self.bind_schema(ask)
        return iter(self.chat.stream(messages, max_tokens=ask.most_tokens, **parameters))

    def parameters(self, ask: Ask) -> dict[str, Any]:
        """How to draw and how much to think. Of the ways to draw, only the temperature: no model takes all of them.

        A newer model thinks unless thinking is disabled; one that refuses to have it disabled gets the lowest effort.
        """
        known, levels = self.profile, self.profile.get("reasoning_effort_levels") or []
        stop = [one for one in ask.stop if one.strip()] or None  # one of white space is refused
        if ask.thinking:
            budget = {"type": "enabled", "budget_tokens": max(LEAST_BUDGET, ask.thinking)}
            return {"thinking": {"type": "adaptive", "display": "summarized"} if levels else budget, "stop": stop}
        parameters: dict[str, Any] = {"stop": stop}
        if known.get("temperature", True):
            parameters["temperature"] = min(ask.temperature, 1.0)
        if known.get("reasoning_output"):
            parameters["thinking"] = {"type": "disabled"}
            if levels and "thinking" in self.refused:
                parameters["effort"] = levels[0]
        return parameters

    @cached_property
    def chat(self) -> Any:
        """LangChain's chat model, which talks to this server and to nothing else."""
        import anthropic
        from langchain_anthropic import ChatAnthropic

        settings = client_settings(self.server)
        if self.server.is_here:  # this client takes a proxy from the shell in any case, unless it is told of none
            settings["mounts"] = dict.fromkeys(("http://", "https://", "all://"))

        class ChatAnthropicUnderControl(ChatAnthropic):
            """LangChain's, with connections under our control and the tokens read counted from the first event too."""

            # LangChain takes no client of ours, and shares one among all chat models of an address.
            @cached_property
            def _client(self) -> anthropic.Client:
                client = anthropic.DefaultHttpxClient(**settings)
                return anthropic.Client(**{**self._client_params, "timeout": client.timeout, "http_client": client})

            def _make_message_chunk_from_anthropic_event(self, event: Any, **more: Any) -> Any:
                if event.type == "message_delta":
                    event = event.model_copy(update={"usage": _clean_usage(event.usage)})
                chunk, block = super()._make_message_chunk_from_anthropic_event(event, **more)
                if chunk is not None and event.type == "message_start":
                    counts = (read_count(getattr(event.message.usage, key, None)) for key in READ_KEYS)
                    chunk.response_metadata["tokens_read"] = sum(counts)
                return chunk, block

        return ChatAnthropicUnderControl(
            model=self.model,
            base_url=self.server.address,
            api_key=self._key or "none",
            max_retries=0,
            max_tokens=1024,
            stream_usage=True,
        )


def _clean_usage(usage: Any) -> Any:
    """The counts that are numbers, as LangChain reads them: one that is none would end the answer."""
    counts = read_counts(usage.model_dump(warnings=False) if hasattr(usage, "model_dump") else usage)
    details = SimpleNamespace(**counts.pop("output_tokens_details", {}))
    return SimpleNamespace(**{**counts, "cache_creation": None, "output_tokens_details": details})


class OllamaModel(ChatModel):
    """A model of an Ollama server. Opening it asks the server whether it has the model, and how much it can read.

    Ollama cuts a prompt that is longer than its context from the front, and says nothing; so we set the context.
    """

    protocol = "Ollama"
    optional = ("think", "seed", "top_k", "top_p", "min_p", "stop")

    def __init__(self, name: str, model: str, server: ModelServer) -> None:
        super().__init__(name, model, server)
        described = describe_ollama_model(server.address, model, name)
        wanted = config.load().context_of(name)
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
            **({"stop": list(ask.stop)} if ask.stop else {}),
        }
        thinks = bool(ask.thinking) if self._thinks and "think" not in self.refused else None
        bound = self.bind_schema(ask)
        return iter(self.chat.stream(messages, options=self.drop_refused(options), reasoning=thinks, **bound))

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
        from langchain_ollama import ChatOllama

        settings = client_settings(self.server)
        chat = ChatOllama(model=self.model, base_url=self.server.address, sync_client_kwargs=settings)
        # The client checks the types of all fields and takes no hook, so its own door for answers is wrapped.
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
