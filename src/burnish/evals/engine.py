"""What computes the answers, in words: tables name it, because the same weights answer differently elsewhere."""

from burnish.models.model import Model

USUAL = {"local": "llama.cpp", "huggingface": "Transformers", "scripted": "script"}


def engine_of(model: Model) -> str:
    """The model's own word for its engine, or the usual one for its provider."""
    provider = model.name.partition(":")[0]
    return str(getattr(model, "engine", "") or USUAL.get(provider, provider))
