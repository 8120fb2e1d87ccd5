"""`openai:NAME`, and any server that speaks OpenAI's chat protocol: vLLM, LM Studio, llama-server."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from burnish.models.chat import CONNECT_SECONDS, PREFILL, SILENT_SECONDS, ChatModel
from burnish.models.http import client_settings
from burnish.models.model import Ask
from burnish.models.providers import ModelServer
from burnish.models.tokens import read_counts

TEMPLATE = "chat_template"
"""How a server calls what it refuses where a model's chat template takes no settings."""
FREE_SERVERS_ONLY = ("top_k", "min_p", "repeat_penalty", "repetition_penalty", TEMPLATE)
"""Parameters that free servers know and OpenAI does not."""


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
        known = self.profile
        levels = known.get("reasoning_effort_levels") or []
        drawing = {"temperature": ask.temperature, "top_p": ask.top_p} if known.get("temperature", True) else {}
        return {**drawing, "seed": ask.seed, **({"reasoning_effort": levels[0]} if levels and not ask.thinking else {})}

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

        client = openai.DefaultHttpxClient(
            trust_env=not self.server.is_here,  # a proxy in the shell is for the world, not for this machine
            timeout=openai.Timeout(SILENT_SECONDS, connect=CONNECT_SECONDS),
            **client_settings(),
        )
        chat = ChatOpenAIWithThoughts(
            model=self.model,
            base_url=self.server.address,
            api_key=lambda: self._key or "none",
            http_client=client,
            openai_proxy=None,
            max_retries=0,  # chat.py tries again, so that a reader sees it and can cancel
            use_responses_api=False,
        )
        create = chat.client.create
        chat.client.create = lambda **question: _clean_counts(create(**question))
        return chat


@contextmanager
def _clean_counts(stream: Any) -> Iterator[Iterator[dict[str, Any]]]:
    """A stream of plain data, of whose counts only those are left that are numbers: another would end the answer."""
    with stream:
        chunks = (chunk.model_dump(warnings=False) for chunk in stream)
        yield ({**chunk, "usage": read_counts(chunk.get("usage"))} for chunk in chunks)
