"""What becomes of the hundred sentences: `experiments/apps/plans.py [MODEL NUMBER …]`.

Prints the blueprint of each in a few lines: by rules alone, or with MODEL those of these numbers, and its answers.
"""

import sys
import threading
import time
from pathlib import Path

from burnish.apps.blueprint import Blueprint, Entity
from burnish.apps.planning.plan import Planned, build_plan_ask, plan_by_rules, read_plan
from burnish.models.model import Chunk
from burnish.models.names import open_model

SENTENCES = Path(__file__).parent / "sentences.txt"


def draw_entity(entity: Entity) -> str:
    """An entity on two lines: its fields, and all else."""
    kinds = {one.name: (one.target and f"→ {one.target}") or "/".join(one.options) or one.type for one in entity.fields}
    fields = [f"{one.name}{'!' if one.required else ''}: {kinds[one.name]}" for one in entity.fields]
    more = [f"{rule.kind}({', '.join((*rule.fields, *rule.per))})" for rule in entity.rules]
    more += [one.name for kind in (entity.computed, entity.actions, entity.views) for one in kind]
    under = f" under {entity.parent}" if entity.parent else ""
    return (
        f"   {entity.label} [{entity.read}, {entity.write}]{under}: {'; '.join(fields)}"
        f"{chr(10) + '      ' + ', '.join(more) if more else ''}"
    )


def draw(planned: Planned) -> str:
    """What came of a sentence."""
    blueprint: Blueprint | None = planned.blueprint
    if not blueprint:
        return f"   refused: {planned.refusal or planned.question}"
    switches = ", ".join(f"{'+' if one.on else '-'}{one.id}" for one in blueprint.switches)
    left_out = f"\n   left out: {'; '.join(blueprint.left_out)}" if blueprint.left_out else ""
    return "\n".join(map(draw_entity, blueprint.entities)) + f"\n   switches: {switches}{left_out}"


def main(model: str = "", *numbers: str) -> None:
    """One sentence after another."""
    sentences = list(enumerate(SENTENCES.read_text("utf-8").splitlines(), 1))
    if not model:
        for number, sentence in sentences:
            print(f"{number}. {sentence}\n{draw(plan_by_rules(sentence))}")
        return
    opened = open_model(model)
    for number, sentence in [pair for pair in sentences if str(pair[0]) in numbers]:
        began = time.monotonic()
        pieces = opened.stream(build_plan_ask(sentence), threading.Event())
        answer = "".join(piece.text for piece in pieces if isinstance(piece, Chunk))
        print(
            f"{number}. {sentence} ({time.monotonic() - began:.0f} s)\n   {answer}\n{draw(read_plan(sentence, answer))}"
        )
        sys.stdout.flush()
    opened.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
