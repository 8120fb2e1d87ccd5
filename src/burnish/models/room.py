"""How much a model can have in mind at once, whoever knows it: the model, the user's file, the list of prices."""

from burnish import config
from burnish.models.model import Model
from burnish.models.prices import context_of
from burnish.models.providers import server_of


def room_of(model: Model) -> int:
    """Tokens of question and answer together; 0 where nobody has told us."""
    own = int(getattr(model, "context", 0))
    return smaller(own, config.load().context.get(model.name, 0)) or _listed(model.name)


def smaller(*rooms: int) -> int:
    """The smallest of those that are known; a model cannot be told to have more in mind than it has."""
    return min((room for room in rooms if room), default=0)


def _listed(name: str) -> int:
    """Only of a provider's own cloud: another server may run anything under that name."""
    server = server_of(name)
    return context_of(name) if server is not None and server.is_official else 0
