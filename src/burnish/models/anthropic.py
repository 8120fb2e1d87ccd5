"""`anthropic:NAME`, and any server that speaks Anthropic's protocol (the extra `[anthropic]`)."""

from collections.abc import Iterator
from functools import cached_property
from types import SimpleNamespace
from typing import Any

from burnish.models.chat import CONNECT_SECONDS, SILENT_SECONDS, ChatModel
from burnish.models.http import client_settings
from burnish.models.model import Ask
from burnish.models.tokens import read_count, read_counts

LEAST_BUDGET = 1024
"""Tokens for thoughts that an older model must be given, if any."""
READ_KEYS = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
"""Everything that was read: Anthropic counts what comes from a cache, or goes there, beside the rest."""


class AnthropicModel(ChatModel):
    """A model behind Anthropic's protocol. Older ones go on from a begun answer; newer ones refuse it, and say so."""

    protocol = "Anthropic protocol"
    optional = ("temperature", "thinking", "effort")

    @property
    def least_thinking(self) -> int:
        """Tokens below which it refuses to have thoughts; newer models see for themselves how much to think."""
        return 0 if self.profile.get("reasoning_effort_levels") else LEAST_BUDGET

    def request(self, ask: Ask, messages: list[tuple[str, str]]) -> Iterator[Any]:
        """LangChain's chunks of one answer."""
        if messages[-1][0] == "assistant":  # a begun answer must not end in white space
            messages = [*messages[:-1], ("assistant", messages[-1][1].rstrip())]
        return iter(self.chat.stream(messages, max_tokens=ask.most_tokens, **self.drop_refused(self.parameters(ask))))

    def parameters(self, ask: Ask) -> dict[str, Any]:
        """How to draw and how much to think. Of the ways to draw, only the temperature: no model takes all of them.

        A newer model thinks unless thinking is disabled; one that refuses to have it disabled gets the lowest effort.
        """
        known = self.profile
        levels = known.get("reasoning_effort_levels") or []
        if ask.thinking:
            budget = {"type": "enabled", "budget_tokens": max(LEAST_BUDGET, ask.thinking)}
            return {"thinking": {"type": "adaptive", "display": "summarized"} if levels else budget}
        drawing = {"temperature": min(ask.temperature, 1.0)} if known.get("temperature", True) else {}
        if not known.get("reasoning_output"):
            return drawing
        little = {"effort": levels[0]} if levels and "thinking" in self.refused else {}
        return {**drawing, "thinking": {"type": "disabled"}, **little}

    @cached_property
    def chat(self) -> Any:
        """LangChain's chat model, which talks to this server and to nothing else."""
        import anthropic
        from langchain_anthropic import ChatAnthropic

        here = self.server.is_here

        class ChatAnthropicUnderControl(ChatAnthropic):
            """LangChain's, with connections under our control and the tokens read counted from the first event too."""

            @cached_property
            def _client(self) -> anthropic.Client:
                client = anthropic.DefaultHttpxClient(
                    trust_env=not here,  # a proxy in the shell is for the world, not for this machine
                    mounts=dict.fromkeys(("http://", "https://", "all://")) if here else {},  # or this client takes it
                    timeout=anthropic.Timeout(SILENT_SECONDS, connect=CONNECT_SECONDS),
                    **client_settings(),
                )
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
