"""`openai:NAME`, and any server that speaks OpenAI's chat protocol: vLLM, LM Studio, llama-server."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from importlib.metadata import version
from typing import Any

from burnish.models.chat import BEGUN, CONNECT_SECONDS, SILENT_SECONDS, ChatModel
from burnish.models.counting import counts
from burnish.models.model import Ask
from burnish.models.providers import Server
from burnish.models.wire import under_control

TEMPLATE = "chat_template"
"""How a server calls what it refuses where a model's form of talk cannot be told anything."""
OF_THEIR_OWN = ("top_k", "min_p", "repeat_penalty", "repetition_penalty", TEMPLATE)
"""Parameters that free servers know and OpenAI does not."""


class OpenAIModel(ChatModel):
    """A model behind OpenAI's protocol. OpenAI itself does not go on from a begun answer, and says nothing about it."""

    optional = (*ChatModel.optional, *OF_THEIR_OWN, "max_tokens", "stream_options", "reasoning_effort")

    def __init__(self, name: str, model: str, server: Server) -> None:
        super().__init__(name, model, server)
        if not server.continues:
            self.refused.add(BEGUN)

    @property
    def engine(self) -> str:
        """What carries the answers, with its version."""
        return f"OpenAI protocol (langchain-openai {version('langchain-openai')})"

    def talk(self, ask: Ask, messages: list[tuple[str, str]]) -> Iterator[Any]:
        """LangChain's chunks of one answer."""
        more = {} if self.server.is_official else _of_their_own(ask) | self._quiet(ask)
        return iter(
            self.chat.stream(
                messages,
                max_tokens=ask.most_tokens,
                extra_body=_without(self.refused, more) or None,
                stream_usage="stream_options" not in self.refused,
                **_without(self.refused, self.parameters(ask)),
            )
        )

    def _quiet(self, ask: Ask) -> dict[str, object]:
        """Tells a model that would think by itself not to; one that knows nothing of it does not mind."""
        tell = not ask.thinking and TEMPLATE not in self.refused
        return {f"{TEMPLATE}_kwargs": {"enable_thinking": False}} if tell else {}

    def parameters(self, ask: Ask) -> dict[str, Any]:
        """How to draw, where the model lets itself be told; and to think as little as it can, where nobody asked."""
        known = self.profile
        levels = known.get("reasoning_effort_levels") or []
        drawn = {"temperature": ask.temperature, "top_p": ask.top_p} if known.get("temperature", True) else {}
        return {**drawn, "seed": ask.seed, **({"reasoning_effort": levels[0]} if levels and not ask.thinking else {})}

    @cached_property
    def chat(self) -> Any:
        """LangChain's chat model, which talks to this server and to nothing else."""
        import openai

        client = openai.DefaultHttpxClient(
            trust_env=not self.server.is_here,  # a proxy in the shell is for the world, not for this machine
            timeout=openai.Timeout(SILENT_SECONDS, connect=CONNECT_SECONDS),
            **under_control(),
        )
        chat = _chat_class()(
            model=self.model,
            base_url=self.server.address,
            api_key=lambda: self._key or "none",
            http_client=client,
            openai_proxy=None,
            max_retries=0,
            use_responses_api=False,
        )
        asked = chat.client.create
        chat.client.create = lambda **question: _plain(asked(**question))
        return chat


@contextmanager
def _plain(stream: Any) -> Iterator[Iterator[dict[str, Any]]]:
    """A stream of plain data, of whose counts only those are left that are numbers: another would end the answer."""
    with stream:
        told = (chunk.model_dump(warnings=False) for chunk in stream)
        yield ({**chunk, "usage": counts(chunk.get("usage"))} for chunk in told)


def _of_their_own(ask: Ask) -> dict[str, object]:
    """What free servers take beside the usual. They may know `max_tokens` by its old name only."""
    more: dict[str, object] = {"max_tokens": ask.most_tokens, "top_k": ask.top_k, "min_p": ask.min_p}
    if ask.repetition_penalty != 1:
        more |= {"repeat_penalty": ask.repetition_penalty, "repetition_penalty": ask.repetition_penalty}
    return more


def _without(names: set[str], parameters: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in parameters.items() if name not in names}


def _chat_class() -> Any:
    from langchain_openai import ChatOpenAI

    class Chat(ChatOpenAI):
        """LangChain's, which drops the thoughts that free servers send beside the answer; this one keeps them."""

        def _convert_chunk_to_generation_chunk(self, chunk: dict[str, Any], *args: Any, **more: Any) -> Any:
            made = super()._convert_chunk_to_generation_chunk(chunk, *args, **more)
            delta = (chunk.get("choices") or [{}])[0].get("delta") or {}
            thought = delta.get("reasoning_content") or delta.get("reasoning")
            if made is not None and isinstance(thought, str) and thought:
                made.message.additional_kwargs["reasoning_content"] = thought
            return made

    return Chat
