"""What every event is made of."""

import time
from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, Field

Count = Annotated[int, Field(ge=0, le=10**12)]
"""Of tokens."""
LATEST = 32_503_680_000.0
"""The last moment that a record may name, in the year 3000: beyond it no calendar of Python is safe."""


class Frozen(BaseModel):
    """Plain data that never changes and refuses fields it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class BaseEvent(Frozen):
    """What every event has: the time it happened. No number in one is without end, or none at all (NaN)."""

    model_config = ConfigDict(allow_inf_nan=False)

    lasting: ClassVar[bool] = True
    """False for events that only a live reader wants; they are not stored."""
    at: float = Field(default_factory=time.time, ge=0, le=LATEST)
