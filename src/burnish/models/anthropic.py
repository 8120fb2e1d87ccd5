"""`anthropic:NAME`, and any server that speaks Anthropic's protocol (the extra `[anthropic]`)."""

from collections.abc import Iterator
from functools import cached_property
from importlib.metadata import version
from typing import Any, ClassVar

from burnish.models.chat import BEGUN, CONNECT_SECONDS, SILENT_SECONDS, ChatModel
from burnish.models.model import Ask
from burnish.models.providers import Server
from burnish.models.wire import under_control


class AnthropicModel(ChatModel):
    """A model behind Anthropic's protocol. Older ones go on from a begun answer; newer ones refuse it, and say so."""

    optional: ClassVar[tuple[str, ...]] = ("temperature",)

    def __init__(self, name: str, model: str, server: Server) -> None:
        super().__init__(name, model, server.address, server.key, server.key_env)
        self._server = server
        if server.continues is False:
            self.refused.add(BEGUN)

    @property
    def engine(self) -> str:
        """What carries the answers, with its version."""
        return f"Anthropic protocol (langchain-anthropic {version('langchain-anthropic')})"

    def talk(self, ask: Ask, messages: list[tuple[str, str]]) -> Iterator[Any]:
        """LangChain's chunks of one answer. Of the ways to draw, only the temperature: no model takes all of them."""
        usual = {} if "temperature" in self.refused else {"temperature": min(ask.temperature, 1.0)}
        if messages[-1][0] == "assistant":  # a begun answer must not end in white space
            messages = [*messages[:-1], ("assistant", messages[-1][1].rstrip())]
        return iter(self.chat.stream(messages, max_tokens=ask.max_tokens, **usual))

    @cached_property
    def chat(self) -> Any:
        """LangChain's chat model, which talks to this server and to nothing else."""
        return _chat_class(self._server.is_here)(
            model=self.model,
            base_url=self.address,
            api_key=self._key or "none",
            max_retries=0,
            max_tokens=1024,
            stream_usage=True,
        )


def _chat_class(here: bool) -> Any:
    import anthropic
    from langchain_anthropic import ChatAnthropic

    class Chat(ChatAnthropic):
        """LangChain's, with connections under our control and the tokens read counted from the first event too."""

        @cached_property
        def _client(self) -> anthropic.Client:
            client = anthropic.DefaultHttpxClient(
                trust_env=not here,  # a proxy in the shell is for the world, not for this machine
                timeout=anthropic.Timeout(SILENT_SECONDS, connect=CONNECT_SECONDS),
                **under_control(),
            )
            return anthropic.Client(**{**self._client_params, "timeout": client.timeout, "http_client": client})

        def _make_message_chunk_from_anthropic_event(self, event: Any, **more: Any) -> Any:
            made, block = super()._make_message_chunk_from_anthropic_event(event, **more)
            if made is not None and event.type == "message_start":
                made.response_metadata["tokens_read"] = _read(event.message.usage)
            return made, block

    return Chat


def _read(usage: Any) -> int:
    """Everything that was read: Anthropic counts what comes from a cache, or goes there, beside the rest."""
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    counts = [getattr(usage, name, None) for name in names]
    return sum(count for count in counts if isinstance(count, int) and count > 0)
