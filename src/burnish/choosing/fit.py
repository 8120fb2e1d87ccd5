"""Whether a model can do this work at all: by its name, by what its server says of it, and by what it weighs."""

import os
import re

from burnish.models.listing import Listed

OF_MEMORY = 0.8
"""The share of this machine's memory that weights may fill."""
PLAIN = re.compile(r"[\w.:/@+-]{1,200}")
"""How names look. A server that lists one with a comma in it could otherwise name a second model, somebody else's."""
_NUMBERS = r"embed|minilm|\bbge|\bgte-|\be5-|paraphrase|rerank|colbert|\b(?:code|ro)?bert"
_SOUNDS_AND_PICTURES = r"whisper|tts|audio|realtime|transcribe|image|dall-e|sora|moondream|llava|minicpm-v|\bocr\b"
_ONE_TRADE = r"moderation|guard|shield|search|computer-use|sqlcoder|nsql|reader-lm|nuextract"
_GOES_ON = r"\bbase\b|(?:\db-|:)(?:code|text|python|fim|pt)(?=$|-q\d|-fp\d)|(?:starcoder|stable-code)(?!.*instruct)"
_OUTDONE = r"babbage|davinci|turbo-instruct|gpt-3\.5|codex|(?:o|gpt-)\d(?:\.\d)?-pro"
_ELSEWHERE = r"[-:]cloud$"
NOT_FOR_CODE = re.compile("|".join((_NUMBERS, _SOUNDS_AND_PICTURES, _ONE_TRADE, _GOES_ON, _OUTDONE, _ELSEWHERE)))
"""Models that do not write code; that go on with a text and hold no conversation, or none over the protocol that we
speak; that are long outdone; and those of an Ollama that look as if they were here and send everything elsewhere."""


def is_fit(model: Listed) -> bool:
    """Whether its name is one, and neither that nor its server says that it cannot talk or writes no code."""
    plain = PLAIN.fullmatch(model.name) is not None
    return plain and model.talks and not NOT_FOR_CODE.search(model.name.lower())


def fits(weights_bytes: int) -> bool:
    """Whether weights of this size fit into this machine's memory."""
    return weights_bytes <= OF_MEMORY * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
