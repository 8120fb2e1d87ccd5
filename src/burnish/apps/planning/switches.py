"""Who may read and write what, and the switches that turn what a sentence left open."""

from collections.abc import Iterator, Sequence

from pydantic import ValidationError

from burnish.apps.blueprint import Blueprint, Entity, Field, Switch
from burnish.apps.planning.drafts import Draft, Wishes
from burnish.apps.planning.features import add_fields, add_state, name_new, remove_field
from burnish.apps.planning.vocabulary import GROUPS, fold, is_german, make_name, say
from burnish.errors import SetupProblem

MOST_ENTITIES = 8
OWN = "everybody sees only their own"


def assign_rights(blueprint: Blueprint, wishes: Wishes) -> Blueprint:
    """The blueprint with accounts, and who may read and write what."""
    rights = wishes.rights or ("read_by_all" if has_answers(blueprint) else "")
    private = {one.name for one in list_roots(blueprint)} if rights in ("", "own") else set()
    entities = list(share_rights(blueprint.entities, private))
    if rights == "shown":
        entities = [one.model_copy(update={"write": "owner"}) for one in entities]
    closed = rights == "only_me"
    if closed or rights == "read_by_all":
        write = "members" if closed else "owner"
        entities = [one.model_copy(update={"read": "everyone", "write": write}) for one in entities]
    return blueprint.model_copy(update={"accounts": True, "registration": not closed, "entities": tuple(entities)})


def has_answers(blueprint: Blueprint) -> bool:
    """Whether texts stand under texts, as where people answer what somebody has published."""
    texts = {one.name for one in blueprint.entities if any(field.type == "long_text" for field in one.fields)}

    def is_answer(one: Entity) -> bool:
        above = one.field(one.parent) if one.parent else None
        kinds = [field.type for field in one.fields if not field.target]
        return above is not None and above.target in texts and kinds == ["long_text"]

    return any(map(is_answer, blueprint.entities))


def list_roots(blueprint: Blueprint) -> list[Entity]:
    """The entities that are shown for themselves: under no other, and no mere group of others."""
    grouped = {field.target for one in blueprint.entities for field in one.references if field.name != one.parent}
    roots = [one for one in blueprint.entities if not one.parent and one.name not in grouped]
    return roots or [blueprint.entities[0]]


def share_rights(entities: Sequence[Entity], private: set[str]) -> Iterator[Entity]:
    """Entities with their rights: what is private is its owner's; what others refer to, or claim, is seen by all.

    A row under another goes with that one; a group with what it sorts.
    """
    by_name = {one.name: one for one in entities}

    def is_private(one: Entity, seen: frozenset[str] = frozenset()) -> bool:
        if any(rule.kind in ("no_overlap", "unique_together") for rule in one.rules) or one.name in seen:
            return False
        if one.name in private:
            return True
        seen |= {one.name}
        if one.parent and (above := one.field(one.parent)):
            return is_private(by_name[above.target], seen)
        users = [
            other
            for other in entities
            if other.name not in seen and any(f.target == one.name for f in other.references)
        ]
        return bool(users) and all(is_private(other, seen) for other in users)

    shared = {one.name for one in entities if not is_private(one)}
    while more := {f.target for one in entities if one.name in shared for f in one.references} - shared:
        shared |= more  # nobody could choose what they do not see
    for one in entities:
        claims = any(rule.kind in ("no_overlap", "unique_together") for rule in one.rules)
        if one.name in shared:
            yield one.model_copy(update={"read": "members", "write": "owner" if claims else "members"})
        else:
            yield one.model_copy(update={"read": "owner", "write": "owner"})


def list_switches(blueprint: Blueprint, draft: Draft) -> Iterator[Switch]:
    """What was assumed, as switches."""
    main = blueprint.entities[0]
    if draft.wishes.accounts is None:
        yield make_switch("accounts", blueprint, on=blueprint.accounts)
    if blueprint.accounts:
        yield from list_account_switches(blueprint)
    is_done = _find_done(main, draft.german) is not None
    if draft.entities and draft.entities[0].is_ticked_off and is_done:
        yield make_switch(f"done.{main.name}", blueprint)
    has_group = any(fold(field.label) in GROUPS for field in main.fields)
    if (
        not has_group
        and len(blueprint.entities) < MOST_ENTITIES
        and not any(e.name == "category" for e in blueprint.entities)
    ):
        yield make_switch(f"category.{main.name}", blueprint, on=False)


def list_account_switches(blueprint: Blueprint) -> Iterator[Switch]:
    """Who may register, and who sees what."""
    yield make_switch("registration", blueprint, on=blueprint.registration)
    for one in list_roots(blueprint):
        if one.read != "everyone" and one.read == one.write:
            yield make_switch(f"owner.{one.name}", blueprint, on=one.read == "owner")


def make_switch(switch: str, blueprint: Blueprint, on: bool = True) -> Switch:
    """A switch with what holds on either side of it."""
    kind, _, name = switch.partition(".")
    things = blueprint.entity(name).plural if name else ""
    whose = "everyone reads, and only who wrote something changes it" if has_answers(blueprint) else OWN
    text, otherwise = {
        "accounts": (
            f"People register and log in; {whose}.",
            "There are no accounts: everyone who opens the app reads and changes everything.",
        ),
        "registration": ("Anybody may register.", "The first account is the only one."),
        "owner": (f"{things}: everybody sees only their own.", f"{things}: all members see and change all."),
        "done": (f"{things}: each can be marked as done.", f"{things}: nothing can be marked as done."),
        "category": (f"{things}: each can have a category.", f"{things}: there are no categories."),
    }[kind]
    return Switch(id=switch, text=text, otherwise=otherwise, on=on)


def flip(blueprint: Blueprint, switch: str) -> Blueprint:
    """The blueprint with one switch turned; turned twice, it is as it was.

    Raises SetupProblem for one that is not there.
    """
    turned = next((one for one in blueprint.switches if one.id == switch), None)
    if not turned:
        known = ", ".join(one.id for one in blueprint.switches) or "none"
        raise SetupProblem(f"There is no switch {switch!r} in this blueprint; there are: {known}. Name one of them")
    on = not turned.on
    kind, _, name = switch.partition(".")
    switches = tuple(one.model_copy(update={"on": on}) if one is turned else one for one in blueprint.switches)
    before, blueprint = blueprint, blueprint.model_copy(update={"switches": switches})
    if kind == "accounts":
        return _turn_accounts(blueprint, on)
    if kind == "registration":
        return blueprint.model_copy(update={"registration": on})
    if kind == "owner":
        return _turn_rights(blueprint, before)
    entity = blueprint.entity(name)
    german = is_german(blueprint.sentence)
    if kind == "done":
        state = _find_done(entity, german)
        entity = remove_field(entity, state.name) if state else add_state(entity, say("done", german), german)
        return _replace(blueprint, entity)
    return _turn_categories(blueprint, entity, german)


def follow_fields(blueprint: Blueprint) -> Blueprint:
    """The blueprint whose switches say what is there, after a change of its entities."""
    german = is_german(blueprint.sentence)
    switches = []
    for switch in blueprint.switches:
        kind, _, name = switch.id.partition(".")
        entity = next((one for one in blueprint.entities if one.name == name), None)
        is_full = kind == "category" and not switch.on and len(blueprint.entities) == MOST_ENTITIES
        if (name and not entity) or is_full:
            continue
        if entity and kind == "done":
            switch = switch.model_copy(update={"on": _find_done(entity, german) is not None})
        elif entity and kind == "category":
            has_group = any(field.label == say(kind, german) for field in entity.references)
            switch = switch.model_copy(update={"on": has_group})
        switches.append(switch)
    return blueprint.model_copy(update={"switches": tuple(switches)})


def _find_done(entity: Entity, german: bool) -> Field | None:
    """The yes-or-no by which rows are done."""
    label = say("done", german)
    return next((one for one in entity.fields if one.type == "yes_no" and one.label == label), None)


def _turn_accounts(blueprint: Blueprint, on: bool) -> Blueprint:
    kept = tuple(one for one in blueprint.switches if one.id.partition(".")[0] not in ("owner", "registration"))
    if on:
        blueprint = assign_rights(blueprint, Wishes())
        at = 1 + next(place for place, one in enumerate(kept) if one.id == "accounts")
        switches = (*kept[:at], *list_account_switches(blueprint), *kept[at:])
        return _check(blueprint.model_copy(update={"switches": switches}))
    entities = tuple(one.model_copy(update={"read": "everyone", "write": "everyone"}) for one in blueprint.entities)
    return _check(blueprint.model_copy(update={"accounts": False, "entities": entities, "switches": kept}))


def _turn_rights(blueprint: Blueprint, before: Blueprint) -> Blueprint:
    """Rights as the switches say now, of entities that had theirs from the switches."""
    then, now = (
        [
            *share_rights(
                one.entities, {switch.id[6:] for switch in one.switches if switch.id.startswith("owner.") and switch.on}
            )
        ]
        for one in (before, blueprint)
    )
    entities = tuple(
        new if (one.read, one.write) == (old.read, old.write) else one
        for one, old, new in zip(blueprint.entities, then, now, strict=True)
    )
    return _check(blueprint.model_copy(update={"entities": entities}))


def _turn_categories(blueprint: Blueprint, entity: Entity, german: bool) -> Blueprint:
    """Categories of an entity: there now if they were not, and gone if they were."""
    label = say("category", german)
    old = next((field for field in entity.references if field.label == label), None)
    if old:
        blueprint = _replace(blueprint, remove_field(entity, old.name), check=False)
        entities = tuple(one for one in blueprint.entities if one.name != old.target)
        return _check(blueprint.model_copy(update={"entities": entities}))
    name = make_name(label, "entry", [one.name for one in blueprint.entities])
    titled = Field(name=make_name(say("name", german)), label=say("name", german), type="text")
    group = Entity(
        name=name, label=label, plural=say("categories", german), fields=(titled,), read=entity.read, write=entity.write
    )
    field = Field(name=name_new(entity, label), label=label, type="reference", target=name, required=False)
    blueprint = blueprint.model_copy(update={"entities": (*blueprint.entities, group)})
    return _replace(blueprint, add_fields(entity, field))


def _replace(blueprint: Blueprint, entity: Entity, check: bool = True) -> Blueprint:
    entities = tuple(entity if one.name == entity.name else one for one in blueprint.entities)
    changed = blueprint.model_copy(update={"entities": entities})
    return _check(changed) if check else changed


def _check(blueprint: Blueprint) -> Blueprint:
    """The same blueprint, once it is known to be one that can be built."""
    try:
        return Blueprint.model_validate(blueprint.model_dump())
    except ValidationError as error:
        why = error.errors()[0]["msg"]
        raise SetupProblem(
            f"This switch cannot be turned in this app ({why}). Take something out of it first"
        ) from error
