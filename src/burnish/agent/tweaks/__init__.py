"""Small edits of code, tried without asking a model."""

from burnish.agent.tweaks.tweak import Tweak, tweaks_of

__all__ = ["Tweak", "tweaks_of"]
