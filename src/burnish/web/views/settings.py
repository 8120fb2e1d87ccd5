"""Settings: what holds until it is changed, and whether everything that is needed is here."""

import shlex
from typing import NamedTuple

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from burnish import config
from burnish.doctor import DoctorFinding, examine, is_healthy
from burnish.errors import SetupProblem
from burnish.model_choice import last_speeds
from burnish.models.local import CONTEXT_TOKENS_PER_SLOT
from burnish.models.providers import list_servers
from burnish.web.forms import read_form, read_text
from burnish.web.model_menu import list_menu
from burnish.web.page import Tab, Translate, choose_language, render, translator

TAB = Tab("Settings", "/settings")
PULL = ("burnish", "models", "pull")
SET = ("burnish", "config", "set")


class SettingField(NamedTuple):
    """One setting with a form of its own."""

    key: str
    label: str
    note: str


FIELDS = (
    SettingField("model", "Who answers, where nothing else is chosen", "What each is good for stands under Models."),
    SettingField(
        "may_spend",
        "May a model that costs money be chosen for you?",
        "It only matters where Burnish chooses the model. Where you choose one yourself, that one answers.",
    ),
    SettingField(
        "context.local",
        "How much a model on this machine may read at once",
        "In tokens: about four of them are three words. More takes more memory.",
    ),
    SettingField(
        "gpu_layers",
        "What the graphics card computes",
        "auto: all that fits into it; 0: nothing; another number: so many layers of the model.",
    ),
    SettingField("models.ollama.base_url", "Where Ollama is", "Empty: at its usual place on this machine."),
    SettingField("models.openai.base_url", "Where OpenAI is asked", "Empty: at its own address."),
    SettingField("models.anthropic.base_url", "Where Anthropic is asked", "Empty: at its own address."),
    SettingField("checks.index_url", "Who is asked whether a package exists", "Empty: as pip is set up here."),
    SettingField("checks.advisories_url", "Who is asked for known weaknesses of packages", "Empty: as usual."),
)
MEANINGS = {
    "python": "What Burnish itself runs on.",
    "sandbox": "The closed room in which code of a model is tried, where it can do no harm.",
    "containers": "Another such room, for where the first one cannot be had.",
    "browser": "Where pages and apps are tried.",
    "settings": "The file in which your settings are kept.",
    "embedded engine": "What computes the models on this machine.",
    "disk": "Room for models and results.",
    "home": "The folder of your results.",
    "cache": "The folder of models.",
}


async def show(request: Request) -> Response:
    """The forms; what the doctor finds comes a moment later."""
    return await run_in_threadpool(_render_page, request, saved=request.query_params.get("saved", ""))


def _render_page(
    request: Request, status: int = 200, saved: str = "", wrong: str = "", typed: str = "", problem: str = ""
) -> Response:
    """The page; with `problem` beside the field of this key, which then holds what was typed."""
    try:
        settings = config.load()
        models = list_menu((), last_speeds(), translator(choose_language(request)))
        servers = list_servers()
    except SetupProblem as error:  # the file is broken: the page says so, and the doctor's part works
        settings, models, servers, problem = config.Config(), [], {}, problem or str(error)
    values = {field.key: _read_value(settings, field.key) for field in FIELDS}
    wrong = wrong if wrong in values else ""
    values |= {wrong: typed} if wrong else {}
    return render(
        request,
        "settings.html",
        status,
        fields=FIELDS,
        values=values,
        models=models,
        servers=servers,
        usual_context=CONTEXT_TOKENS_PER_SLOT,
        file=str(config.path()),
        saved=saved,
        wrong=wrong,
        problem=problem,
    )


def _read_value(settings: config.Config, key: str) -> str:
    """What a setting is now, as it is typed."""
    table, _, rest = key.partition(".")
    if table == "models":
        server = settings.models.get(rest.partition(".")[0])
        return server.base_url if server else ""
    if table == "checks":
        return str(getattr(settings.checks, rest))
    if table == "context":
        return str(settings.context.get(rest, ""))
    value = getattr(settings, key)
    return str(value).lower() if isinstance(value, bool) else str(value)


async def save(request: Request) -> Response:
    """Change one setting, with the rules of `burnish config set`."""
    form, t = await read_form(request), translator(choose_language(request))
    key, value = read_text(form, "key", 200), read_text(form, "value", 2000)

    def put() -> Response:
        try:
            config.put(key, value)
        except SetupProblem as problem:
            return _render_page(request, 400, wrong=key, typed=value, problem=_explain(key, value, problem, t))
        return RedirectResponse(f"/settings?saved={key}#saved" if key.isprintable() else "/settings", 303)

    return await run_in_threadpool(put)


def _explain(key: str, value: str, problem: SetupProblem, t: Translate) -> str:
    """Why this cannot be, for somebody who looks at a form and not at a terminal."""
    name = "context.MODEL" if key.startswith("context.") else key.rpartition(".")[2]
    if config.looks_secret(name, value):
        return t("That looks like a key or a password. Keys are never kept in a file: only the name of a variable is.")
    rule = config.RULES.get(name) if key in {field.key for field in FIELDS} else None
    return t("This cannot be used: {rule}. Nothing was changed.", rule=t(rule)) if rule else str(problem)


async def add_server(request: Request) -> Response:
    """A server of the user's own: its address first, then the variable that holds its key, where it needs one."""
    form = await read_form(request)
    name, address = read_text(form, "name", 40), read_text(form, "address", 2000)
    variable = read_text(form, "variable", 200)

    def put() -> Response:
        try:
            if not name or not address:
                raise SetupProblem("A server needs a name, such as lab, and its address.")
            config.put(f"models.{name}.base_url", address)
            if variable:
                config.put(f"models.{name}.key_env", variable)
        except SetupProblem as problem:
            return _render_page(request, 400, problem=str(problem))
        return RedirectResponse("/settings?saved=server#saved", 303)

    return await run_in_threadpool(put)


async def show_doctor(request: Request) -> Response:
    """What was found, and what can be done about it here."""

    def build() -> Response:
        found = examine()
        shown = [(finding, _find_button(finding)) for finding in found]
        return render(request, "settings/doctor.html", findings=shown, meanings=MEANINGS, is_healthy=is_healthy(found))

    return await run_in_threadpool(build)


def _find_button(finding: DoctorFinding) -> tuple[str, dict[str, str]]:
    """Where a form has to be sent that does what the finding's line does, and its fields; empty where none does."""
    try:
        words = tuple(shlex.split(finding.type_this))
    except ValueError:
        return "", {}
    if words[:3] == PULL and len(words) == 4:
        return "/models/fetch", {"name": words[3]}
    if words[:3] == SET and len(words) == 5:
        return "/settings", {"key": words[3], "value": words[4]}
    return "", {}


ROUTES = [
    Route("/settings", show),
    Route("/settings", save, methods=["POST"]),
    Route("/settings/servers", add_server, methods=["POST"]),
    Route("/settings/doctor", show_doctor),
]
