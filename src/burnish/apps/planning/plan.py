"""From a sentence to a blueprint, a refusal or a question; switches that turn what was assumed.

The rules alone give a whole app of any sentence. A model knows the world, and forgets half of what was asked: so
what rules read for sure holds, and a model's answer adds to it.
"""

import re
from contextlib import suppress

from burnish.apps.blueprint import Blueprint, Entity
from burnish.apps.planning.architectures import Architecture, sketch_architectures
from burnish.apps.planning.composing import compose, extend
from burnish.apps.planning.drafts import Draft, EntityDraft, Wishes
from burnish.apps.planning.features import add_fields, find_field, remove_field
from burnish.apps.planning.reading import read_addition, read_sentence
from burnish.apps.planning.schema import build_change_ask, build_plan_ask, merge, read_tables
from burnish.apps.planning.switches import flip, follow_fields
from burnish.apps.planning.vocabulary import find_plural, find_singular, fold, is_german, make_label
from burnish.apps.planning.wishes import find_contradiction, find_unbuildable
from burnish.errors import ModelError
from burnish.events import Frozen
from burnish.text import join_words, strip_controls

__all__ = [
    "Architecture",
    "Planned",
    "build_change_ask",
    "build_plan_ask",
    "flip",
    "plan_by_rules",
    "read_change",
    "read_plan",
    "sketch_architectures",
]
MOST_SENTENCE = 2000


class Planned(Frozen):
    """What came of a sentence: a blueprint, or why there is none."""

    blueprint: Blueprint | None
    refusal: str = ""
    """Two sentences: what cannot be built, and what can."""
    question: str = ""
    """A contradiction, as a question."""


CAN_BUILD = "It can build apps of tables and pages: lists and records with forms, relations, rules, accounts and views."


def plan_by_rules(sentence: str) -> Planned:
    """A blueprint without a model."""
    return find_refusal(sentence) or Planned(blueprint=compose(sentence, read_sentence(sentence)))


def find_refusal(sentence: str) -> Planned | None:
    """Why no app comes of a sentence: it is none, or it contradicts itself. None where one does."""
    said = " ".join(strip_controls(sentence).split())
    if not re.search(r"[^\W\d_]{2}", said) or len(said) > MOST_SENTENCE:
        why = (
            f"The sentence is longer than {MOST_SENTENCE} characters" if said else "There is no sentence to build from"
        )
        return Planned(blueprint=None, refusal=f"{why}. {CAN_BUILD}")
    if what := find_unbuildable(said):
        return Planned(blueprint=None, refusal=f"Burnish cannot build {what}. {CAN_BUILD}")
    question = find_contradiction(said)
    return Planned(blueprint=None, question=question) if question else None


def read_plan(sentence: str, answer: str) -> Planned:
    """A blueprint of a sentence and a model's answer; of the sentence alone where the answer is nothing."""
    if refused := find_refusal(sentence):
        return refused
    draft = read_sentence(sentence)
    with suppress(ModelError):
        draft = merge(draft, *read_tables(build_plan_ask(sentence), answer, draft.german))
    return Planned(blueprint=compose(sentence, draft))


_REMOVE = re.compile(
    r"\b(?:remove|delete|drop|take away|no more|without(?: the)?|entferne|lösche|ohne)\b (?:the |die |das |den"
    r" )?(?P<what>[\w -]+?)"
    r"(?: (?:from|of|von|aus) (?:the |den |der )?(?P<where>[\w -]+))?$",
    re.IGNORECASE,
)
_RENAME = re.compile(
    r"\b(?:rename|call)\b (?:the )?(?P<old>[\w -]+?) (?:to |into |as )?['\"]?(?P<new>[\w-]+)['\"]?$", re.IGNORECASE
)


def read_change(blueprint: Blueprint, sentence: str, answer: str = "") -> Planned:
    """The blueprint with what a follow-up asks for; all else stays as it is. Rules decide where they understand it."""
    if refused := find_refusal(sentence):
        return refused
    text = " ".join(sentence.split()).strip(" .!")
    if removed := _REMOVE.search(text):
        return _plan_change(blueprint, _remove(blueprint, removed["what"], removed["where"] or ""))
    if renamed := _RENAME.search(text):
        return _plan_change(blueprint, _rename(blueprint, renamed["old"], renamed["new"]))
    draft = read_addition(sentence, blueprint)
    if draft.entities[0].fields or len(draft.entities) > 1 or draft.wishes != Wishes():
        return _plan_change(blueprint, _turn_rights(_check(extend(blueprint, draft)), draft))
    with suppress(ModelError):
        _, tables = read_tables(build_change_ask(blueprint, sentence), answer, draft.german)
        known = {fold(one.label): one for one in blueprint.entities}
        changed = blueprint
        for table in tables:
            about = known.get(fold(table.label))
            first = EntityDraft(
                label=about.label if about else draft.entities[0].label, fields=table.fields if about else ()
            )
            more = () if about else (table,)
            changed = extend(changed, draft.model_copy(update={"entities": (first, *more)}))
        return _plan_change(blueprint, changed)
    return _plan_change(blueprint, blueprint)


def _plan_change(before: Blueprint, after: Blueprint) -> Planned:
    after = follow_fields(after)
    if after.model_copy(update={"left_out": before.left_out}) != before:
        return Planned(blueprint=after)
    names = join_words([one.plural for one in before.entities])
    why = "The sentence changes nothing that was understood."
    return Planned(
        blueprint=None, refusal=f"{why} Say what {names} get or lose, how they are sorted, or who may see them."
    )


def _turn_rights(blueprint: Blueprint, draft: Draft) -> Blueprint:
    """Rows are for all or for their owner, where a follow-up says so and a switch can do it."""
    about = next((one.name for one in blueprint.entities if one.label == draft.entities[0].label), "")
    wanted = {"own": True, "shared": False}.get(draft.wishes.rights)
    switch = next((one for one in blueprint.switches if one.id == f"owner.{about}"), None)
    return flip(blueprint, switch.id) if switch and wanted is not None and switch.on != wanted else blueprint


def _find_entity(blueprint: Blueprint, words: str) -> Entity | None:
    low = fold(words)
    return next((one for one in blueprint.entities if low in (fold(one.label), fold(one.plural), one.name)), None)


def _remove(blueprint: Blueprint, what: str, where: str) -> Blueprint:
    """Without a field, or a whole entity with the references to it."""
    gone = _find_entity(blueprint, what)
    if gone and len(blueprint.entities) > 1:
        entities = []
        for one in blueprint.entities:
            for field in one.references:
                one = remove_field(one, field.name) if field.target == gone.name else one
            entities.append(one)
        kept = tuple(
            one for one in entities if one.name != gone.name and not any(f.target == gone.name for f in one.fields)
        )
        return _check(blueprint, entities=kept)
    named = _find_entity(blueprint, where)
    for one in (named,) if named else blueprint.entities:
        if lost := find_field(one, what):
            changed = tuple(remove_field(old, lost.name) if old is one else old for old in blueprint.entities)
            return _check(blueprint, entities=changed)
    return blueprint


def _rename(blueprint: Blueprint, old: str, new: str) -> Blueprint:
    """Another label for an entity or a field; names stay, so that data does too."""
    label = make_label(new)
    if entity := _find_entity(blueprint, old):
        german = is_german(blueprint.sentence)
        singular = find_singular(label, german)
        update = {"label": singular, "plural": find_plural(singular, german)}
        entities = tuple(each.model_copy(update=update) if each is entity else each for each in blueprint.entities)
        return _check(blueprint, entities=entities)
    for one in blueprint.entities:
        if field := find_field(one, old):
            changed = add_fields(one, field.model_copy(update={"label": label}))
            return _check(blueprint, entities=tuple(changed if each is one else each for each in blueprint.entities))
    return blueprint


def _check(blueprint: Blueprint, **updates: object) -> Blueprint:
    changed = follow_fields(blueprint.model_copy(update=updates))
    return Blueprint.model_validate(changed.model_dump())
