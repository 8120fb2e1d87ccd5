"""What was understood of a sentence, before it is known whether it can be built: rules and model both write this."""

from typing import Literal

from burnish.apps.blueprint import FieldType
from burnish.events import Frozen


class FieldDraft(Frozen):
    """A value that rows hold, by its words."""

    label: str
    type: FieldType | Literal[""] = ""
    """Empty: what its words say."""
    options: tuple[str, ...] = ()
    target: str = ""
    """The label of the entity that it leads to."""
    minimum: float | None = None
    maximum: float | None = None
    required: bool | None = None
    """None: as is usual for its type."""
    default: str = ""


class EntityDraft(Frozen):
    """Things of one kind, by their word in the singular."""

    label: str
    plural: str = ""
    fields: tuple[FieldDraft, ...] = ()
    parent: str = ""
    """The label of the entity on whose page these rows are shown."""
    is_general: bool = False
    """Whether the sentence has no word of its own for it ("Entry")."""
    claims: bool = False
    """Whether each row claims something for a time, as a loan does."""
    is_ticked_off: bool = False
    """Whether rows can be done, though nobody said so: those of a bare list can."""


class Reserving(Frozen):
    """That no two rows may claim the same at the same time."""

    entity: str = ""
    """Whose rows; empty: the main entity's."""
    per: str = ""
    """What is claimed."""
    by_day: bool = False
    """Whether a whole day is claimed, and not a period."""
    together: tuple[str, ...] = ()
    """In place of times: the things of which each pair may be there once."""


class State(Frozen):
    """What rows can be marked as, and whose rows; empty: the main entity's."""

    label: str
    entity: str = ""


class Wishes(Frozen):
    """What a sentence asks for beside things and their values. Where a rule found one, it is sure."""

    accounts: bool | None = None
    rights: Literal["", "own", "shared", "shown", "read_by_all", "only_me"] = ""
    reserving: Reserving | None = None
    is_scarce: bool = False
    """Whether low quantities are to be seen."""
    states: tuple[State, ...] = ()
    due: tuple[Literal["overdue", "today", "expired"], ...] = ()
    """Which rows are to be seen: those that are late, up today, no longer good."""
    sort: str = ""
    descending: bool = False
    computed: tuple[str, ...] = ()
    """What is to be worked out, in the words of the sentence."""


class Draft(Frozen):
    """A sentence as it was understood. The first entity is what the app is about."""

    title: str
    german: bool = False
    entities: tuple[EntityDraft, ...] = ()
    wishes: Wishes = Wishes()
    left_out: tuple[str, ...] = ()
