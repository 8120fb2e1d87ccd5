"""No telemetry: the user's shell may ask LangChain to report what it does; a run of ours is not reported."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

_RETIRED = ("LANGCHAIN_TRACING", "LANGCHAIN_HANDLER")
"""Switches of an old tracer: where one is set, LangChain refuses to work unless it may report to the new one."""


@contextmanager
def disable_tracing() -> Iterator[None]:
    """Within it LangChain and LangGraph report nothing, whatever the environment says."""
    from langsmith import tracing_context

    for name in _RETIRED:
        os.environ.pop(name, None)
    with tracing_context(enabled=False):
        yield
