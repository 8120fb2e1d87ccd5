"""Three toy tasks with scripted answers: one that can be solved, one that cannot, one whose answers mean harm."""

import json
from pathlib import Path

from burnish import ScriptedModel

HERE = Path(__file__).parent


def toy(name: str, **places: str) -> tuple[str, ScriptedModel]:
    """The sentence of a toy task and the model that answers it; CAPITALS in its answers stand for places."""
    text = (HERE / f"{name}.json").read_text("utf-8")
    for word, place in places.items():
        text = text.replace(word, place)
    task = json.loads(text)
    return task["sentence"], ScriptedModel(task["script"], name=f"scripted:{name}")
