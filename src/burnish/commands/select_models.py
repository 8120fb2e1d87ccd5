"""Who answers in a run: named by the user, chosen for them, or models that are open already."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

from burnish.agent.limits import Limits, check_priced
from burnish.model_choice import choose_models
from burnish.models.model import Model
from burnish.models.names import Models, open_model, open_models, split_names
from burnish.runs import Store

Opener = Callable[[str], Sequence[Model]]
"""Opens the models of `small,large`; the command line shows a bar while their weights are fetched."""


@dataclass(frozen=True)
class ModelSelection:
    """The names of those who answer, which are enough where nobody has to be asked."""

    names: str
    why: str = ""
    """Why these, where they were chosen for the user; it goes on record with the run."""
    models: Sequence[Model] = ()

    def open(self, opener: Opener | None = None) -> Sequence[Model]:
        """The models, opened unless they are."""
        return self.models or (opener or open_models)(self.names)

    def open_first(self) -> Model:
        """The first alone, for work where nobody is ever stuck."""
        return self.models[0] if self.models else open_model(split_names(self.names)[0])


def select_models(model: Models | None, limits: Limits, store: Store, *, alone: bool = False) -> ModelSelection:
    """Who answers; a single one where it is to work `alone`.

    Raises SetupProblem where a cap in dollars cannot be kept, before anything is opened.
    """
    if model is None or isinstance(model, str):
        choice = choose_models(model, limits, store, alone=alone)
        check_priced(limits, *split_names(choice.names))
        return ModelSelection(choice.names, choice.why)
    models: tuple[Model, ...] = (*model,) if isinstance(model, tuple | list) else (cast(Model, model),)
    check_priced(limits, *(one.name for one in models))
    return ModelSelection(",".join(one.name for one in models), getattr(model, "why", ""), models)
