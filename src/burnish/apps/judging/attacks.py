"""Attacks over HTTP on a built app, none of which may get what it wants, and none of which may make it answer 5xx.

The same for every app: what to attack is read from its blueprint. An attacker is somebody with an account of their own
where there are accounts; what needs a second account, or any, is not tried where there is none.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from urllib.parse import quote, urlsplit

from burnish.apps.blueprint import Blueprint, Entity, Field
from burnish.apps.judging import rows
from burnish.apps.judging.acceptance import FIRST, PASSWORD, NotTried, StepFailed, Trial, register
from burnish.apps.judging.page_reader import read_page
from burnish.apps.judging.rows import Typed
from burnish.apps.judging.served_app import FORM_TYPE, AppAnswer, Body, Client, ServedApp
from burnish.errors import SandboxError
from burnish.events import Frozen

ELSEWHERE = "evil.example"
MARK = "burnish-mark"
MARKUP = f'<{MARK}>"\'><{MARK} {MARK}="1"><script>{MARK}</script>" {MARK}="1" x=\''
"""Becomes an element or an attribute of this name wherever it is not escaped."""
INJECTIONS = (
    "zz' OR 'a' LIKE 'a",
    "zz%' OR 1=1 --",
    'zz" OR "a"="a',
    "'; DROP TABLE {table}; --",
    "1 UNION SELECT 1,2,3",
    "(",
)
HUGE = ("9" * 30, "-1", "0", "1e999", "NaN", "inf", "٣", "0x10", "1_000", "")
MOMENTS = ("0000-00-00", "99999-01-01", "2031-02-30", "2031-01-01T99:99", "25:61", "today; --", "２０３１-０１-０１")
LEADS_AWAY = (
    f"https://{ELSEWHERE}/",
    f"//{ELSEWHERE}/",
    f"/\\{ELSEWHERE}/",
    f"\\\\{ELSEWHERE}/",
    f"https:{ELSEWHERE}",
    f"/\t/{ELSEWHERE}/",
    f"///{ELSEWHERE}/",
    "javascript:alert(1)",
    "/x\r\nSet-Cookie: a=b",
)
STATIC = (
    *("../app/main.py", "..%2fapp%2fmain.py", "%2e%2e/main.py", "%2e%2e%2fmain.py", "..%5cmain.py", "....//main.py"),
    *("%252e%252e/main.py", "../../data/secret", "..%2f..%2fdata%2fapp.sqlite", "/etc/passwd", "%2fetc%2fpasswd"),
    *("../../../../../../etc/passwd", "app.css%00.py", "..%2fmain.py", "../main.py"),
)
LEAKED = ("import ", "root:x:", "SQLite format")
LARGE_BYTES = 1_500_000
GUESSES = 14
NO_SUCH_ID = 987654321


class AttackResult(Frozen):
    """What came of one attack."""

    name: str
    held: bool | None
    """None where it could not be tried."""
    why: str = ""


def attack(
    blueprint: Blueprint, app: ServedApp, tell: Callable[[str], None] = lambda name: None
) -> tuple[AttackResult, ...]:
    """Try every attack, each told before it begins. Leaves rows and accounts behind."""
    try:
        siege = _Siege(blueprint, app)
    except (StepFailed, NotTried, SandboxError) as error:
        return tuple(AttackResult(name=name, held=None, why=f"nobody could come in: {error}") for name in ATTACKS)
    results = []
    for name, run in ATTACKS.items():
        tell(name)
        try:
            run(siege)
            results.append(AttackResult(name=name, held=True))
        except NotTried as missing:
            results.append(AttackResult(name=name, held=None, why=str(missing)))
        except (StepFailed, SandboxError) as error:
            results.append(AttackResult(name=name, held=False, why=str(error)))
    return tuple(results)


class _Siege:
    """An app with rows of somebody's, and somebody else who has an account, too."""

    def __init__(self, blueprint: Blueprint, app: ServedApp) -> None:
        self.blueprint, self.app = blueprint, app
        self.trial = Trial(blueprint, app, None)
        self.victim, self.attacker = Client(app), Client(app)
        self.trial.me = self.victim
        if blueprint.accounts:
            register(self.trial, self.victim, FIRST)
            if self.has_second:
                register(self.trial, self.attacker, "second@example.org")
        for entity in rows.order_entities(blueprint):
            self.trial.add(entity)

    @property
    def entities(self) -> tuple[Entity, ...]:
        """All of them."""
        return self.blueprint.entities

    @property
    def has_second(self) -> bool:
        """Whether the attacker has an account."""
        return self.blueprint.accounts and self.blueprint.registration

    def need_accounts(self) -> None:
        """Raises NotTried where there are none."""
        if not self.blueprint.accounts:
            raise NotTried("the app has no accounts")

    def send(
        self, client: Client, method: str, path: str, form: Body = None, headers: Mapping[str, str] | None = None
    ) -> AppAnswer:
        """One request. Raises StepFailed for a 5xx, whatever was asked."""
        answer = client.send(method, path, form, headers)
        if answer.status >= 500:
            raise StepFailed(f"{method} {path[:120]} answers {answer.status}")
        return answer

    def fill(self, client: Client, entity: Entity, typed: Typed | None = None) -> Typed:
        """What a good form would send."""
        form = read_page(self.send(client, "GET", f"/{entity.name}/new").text).find_form(f"/{entity.name}")
        if form is None:
            raise NotTried(f"there is no form to add a {entity.name}")
        typed = typed or self.trial.derive(entity)
        return {name: value for name, value in {**form.values, **typed}.items() if value or name not in form.boxes}

    def read_csrf(self, client: Client) -> str:
        """The token that this person's pages hold."""
        for path in (f"/{self.entities[0].name}/new", "/login"):
            for form in read_page(self.send(client, "GET", path).text).forms:
                if form.values.get("csrf"):
                    return form.values["csrf"]
        raise NotTried("no page holds a token")

    def list_targets(self) -> Iterator[tuple[Entity, str]]:
        """A row of each entity that the victim sees."""
        for entity in self.entities:
            for id in [*self.look_at(entity)][:1]:
                yield entity, id

    def list_changes(self, entity: Entity, id: str) -> list[str]:
        """Addresses that change a row when they are posted to."""
        path = f"/{entity.name}/{id}"
        return [path, *(f"{path}/do/{action.name}" for action in entity.actions), f"{path}/delete"]

    def look_at(self, entity: Entity) -> dict[str, dict[str, str]]:
        """The victim's list, as it is shown."""
        return {id: row.values for id, row in self.trial.list_rows(entity, self.victim).items()}

    def refuse_all(self, client: Client, asked: Iterable[tuple[str, str, Body]], why: str) -> None:
        """Raise StepFailed unless every one of these requests is refused and leaves the victim's rows alone."""
        before = {entity.name: self.look_at(entity) for entity in self.entities}
        for method, path, form in asked:
            answer = self.send(client, method, path, form)
            if answer.status < 300:
                raise StepFailed(f"{method} {path} {why} answers {answer.status}")
        for entity in self.entities:
            if self.look_at(entity) != before[entity.name]:
                raise StepFailed(f"{why}, rows of {entity.name} were changed")


def inject_sql(siege: _Siege) -> None:
    """Pieces of SQL where a page takes text, a number or a name."""
    for entity in siege.entities:
        has_text = any(field.type in ("text", "long_text") for field in entity.fields)
        before = siege.look_at(entity)
        for raw in INJECTIONS:
            payload = quote(raw.format(table=entity.name))
            for name in ("q", "sort", "view", "page", *(field.name for field in entity.fields)):
                answer = siege.send(siege.victim, "GET", f"/{entity.name}?{name}={payload}")
                if name == "q" and has_text and read_page(answer.text).rows():
                    raise StepFailed(f"/{entity.name}?q={payload} finds rows")
            siege.send(siege.victim, "GET", f"/{entity.name}/{payload}")
            for field in entity.fields:
                typed = siege.fill(siege.victim, entity) | {field.name: raw.format(table=entity.name)}
                if not _is_text(field):
                    siege.send(siege.victim, "POST", f"/{entity.name}", typed)
        if siege.look_at(entity) != before:
            raise StepFailed(f"rows of {entity.name} changed")
    if siege.blueprint.accounts:
        stranger = Client(siege.app)
        form = {"csrf": siege.read_csrf(stranger), "email": "' OR 1=1 --", "password": "' OR 1=1 --"}
        if siege.send(stranger, "POST", "/login", form).status < 400:
            raise StepFailed("an injected address logs in")


def _is_text(field: Field) -> bool:
    return field.type in ("text", "long_text")


def _refuse_markup(answer: AppAnswer, where: str) -> None:
    """Raise StepFailed where the answer holds our markup as markup."""
    if "html" not in answer.header("content-type"):
        return
    for element in read_page(answer.text).root.walk():
        href = element.attributes.get("href", "").strip().lower()
        is_script = element.tag == "script" and MARK in "".join(map(str, element.content))
        if element.tag == MARK or MARK in element.attributes or is_script or href.startswith("javascript:"):
            raise StepFailed(f"{where}: what was typed is markup there ({element.tag})")


def store_markup(siege: _Siege) -> None:
    """Markup in every text, looked for wherever it is shown."""
    for entity in siege.entities:
        texts = {one.name: MARKUP + siege.trial.salt for one in entity.fields if _is_text(one)}
        links = {one.name: "javascript:alert(1)" for one in entity.fields if one.type == "link"}
        for wrong in (texts, links):
            if not wrong:
                continue
            typed = siege.fill(siege.victim, entity) | wrong
            _refuse_markup(siege.send(siege.victim, "POST", f"/{entity.name}", typed), f"/{entity.name}")
    for entity in siege.entities:
        ids = siege.look_at(entity)
        paths = [f"/{entity.name}", *(f"/{entity.name}/{id}{end}" for id in ids for end in ("", "/edit"))]
        paths += [f"/{entity.name}/new"]
        for path in paths:
            _refuse_markup(siege.send(siege.victim, "GET", path), path)


def reflect_markup(siege: _Siege) -> None:
    """Markup in addresses, looked for in the answer."""
    payload = quote(MARKUP)
    names = ("q", "sort", "view", "page")
    paths = [f"/{entity.name}?{name}={payload}" for entity in siege.entities for name in names]
    paths += [f"/{entity.name}/new?{field.name}={payload}" for entity in siege.entities for field in entity.fields]
    for path in (*paths, f"/{payload}", f"/login?next={payload}", f"/register?next={payload}"):
        _refuse_markup(siege.send(siege.victim, "GET", path), path[:60])
        _refuse_markup(siege.send(Client(siege.app), "GET", path), path[:60])
    for entity in siege.entities:
        for field in entity.fields:
            typed = siege.fill(siege.victim, entity) | {field.name: MARKUP, "csrf": siege.read_csrf(siege.victim)}
            if not _is_text(field):
                _refuse_markup(siege.send(siege.victim, "POST", f"/{entity.name}", typed), f"/{entity.name}")


def _forge(siege: _Siege, token: str | None, why: str) -> None:
    """Everything that the victim may change, asked for with a token that is not theirs."""
    more = {} if token is None else {"csrf": token}
    for entity, id in siege.list_targets():
        good = siege.fill(siege.victim, entity)
        typed = {**{name: value for name, value in good.items() if name != "csrf"}, **more}
        paths = [f"/{entity.name}", *siege.list_changes(entity, id)]
        siege.refuse_all(siege.victim, [("POST", path, typed) for path in paths], why)
        for path in paths:
            if (answer := siege.send(siege.victim, "POST", path, typed)).status != 403:
                raise StepFailed(f"POST {path} {why} answers {answer.status} in place of 403")


def omit_csrf(siege: _Siege) -> None:
    """Forms without the token of their page."""
    _forge(siege, None, "without a token")
    _forge(siege, "", "with an empty token")


def forge_csrf(siege: _Siege) -> None:
    """Forms with an invented token, or somebody else's."""
    _forge(siege, "0" * 64, "with an invented token")
    _forge(
        siege,
        siege.read_csrf(Client(siege.app) if siege.blueprint.accounts else siege.attacker),
        "with a foreign token",
    )
    if siege.has_second:
        _forge(siege, siege.read_csrf(siege.attacker), "with the token of somebody else")


def change_by_link(siege: _Siege) -> None:
    """Changes by a link alone, as a picture on another page would make them."""
    for entity, id in siege.list_targets():
        before = siege.look_at(entity)
        for path in siege.list_changes(entity, id)[1:]:
            for method in ("GET", "HEAD"):
                siege.send(siege.victim, method, path)
        siege.send(siege.victim, "GET", f"/{entity.name}/{id}?_method=DELETE")
        siege.send(siege.victim, "GET", f"/{entity.name}/{id}", None, {"X-HTTP-Method-Override": "DELETE"})
        if siege.look_at(entity) != before:
            raise StepFailed(f"a link changes rows of {entity.name}")


def use_other_methods(siege: _Siege) -> None:
    """Other methods than those that a page has."""
    csrf = siege.read_csrf(siege.victim)
    for entity, id in siege.list_targets():
        before = siege.look_at(entity)
        for method in ("PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BURNISH"):
            for path in ("/", f"/{entity.name}", f"/{entity.name}/{id}"):
                siege.send(siege.victim, method, path, {"csrf": csrf})
        override = {"X-HTTP-Method-Override": "DELETE", "X-Method-Override": "DELETE"}
        siege.send(siege.victim, "POST", f"/{entity.name}/{id}", {"_method": "DELETE", "csrf": csrf}, override)
        if siege.look_at(entity) != before:
            raise StepFailed(f"another method changes rows of {entity.name}")


def read_others(siege: _Siege) -> None:
    """Rows that only their owner may see, asked for by somebody else and by nobody."""
    siege.need_accounts()
    private = [(entity, id) for entity, id in siege.list_targets() if entity.read == "owner"]
    if not private:
        raise NotTried("everybody may see all rows")
    people = [Client(siege.app), *([siege.attacker] if siege.blueprint.registration else [])]
    for entity, id in private:
        for who in people:
            for path in (f"/{entity.name}/{id}", f"/{entity.name}/{id}/edit"):
                if (answer := siege.send(who, "GET", path)).status in (200, 403):
                    raise StepFailed(f"{path} answers {answer.status} to somebody else")
            for asked in ("", "?owner=1", "?view=all", "?q=", "?sort=id", "?page=1"):
                if id in read_page(siege.send(who, "GET", f"/{entity.name}{asked}").text).rows():
                    raise StepFailed(f"/{entity.name}{asked} shows a row of somebody else")
            for field in entity.references:
                page = read_page(
                    siege.send(who, "GET", f"/{field.target}/{next(iter(siege.trial.rows[field.target]))}").text
                )
                if id in page.rows(entity.name):
                    raise StepFailed(f"the page of a {field.target} shows a {entity.name} of somebody else")


def change_others(siege: _Siege) -> None:
    """Changes of rows that belong to somebody else."""
    if not siege.has_second:
        raise NotTried("nobody else can have an account")
    guarded = [(entity, id) for entity, id in siege.list_targets() if entity.write == "owner"]
    if not guarded:
        raise NotTried("everybody may change all rows")
    for entity, id in guarded:
        typed = siege.fill(siege.attacker, entity)
        paths = siege.list_changes(entity, id)
        siege.refuse_all(siege.attacker, [("POST", path, typed) for path in paths], "by somebody else")


def change_as_nobody(siege: _Siege) -> None:
    """Changes by somebody who is not logged in."""
    siege.need_accounts()
    nobody = Client(siege.app)
    csrf = siege.read_csrf(nobody)
    for entity, id in siege.list_targets():
        typed = siege.fill(siege.victim, entity) | {"csrf": csrf}
        paths = [f"/{entity.name}", *siege.list_changes(entity, id)]
        siege.refuse_all(nobody, [("POST", path, typed) for path in paths], "without an account")


def refer_to_others(siege: _Siege) -> None:
    """A row that refers to one which its author may not see: refused, as if there were none."""
    referring = [(entity, field) for entity in siege.entities for field in entity.references]
    if not referring:
        raise NotTried("no row refers to another")
    for entity, field in referring:
        typed = siege.fill(siege.victim, entity) | {field.name: str(NO_SUCH_ID)}
        if siege.send(siege.victim, "POST", f"/{entity.name}", typed).status != 422:
            raise StepFailed(f"{entity.name}.{field.name} takes a row that does not exist")
        hidden = next(iter(siege.trial.rows[field.target]), "")
        if siege.blueprint.entity(field.target).read == "owner" and hidden and siege.has_second:
            typed = siege.fill(siege.attacker, entity) | {field.name: hidden}
            if siege.send(siege.attacker, "POST", f"/{entity.name}", typed).status != 422:
                raise StepFailed(f"{entity.name}.{field.name} takes a row of somebody else")


def assign_more(siege: _Siege) -> None:
    """Fields that no form has: the owner, the id, the day of a row."""
    who = siege.attacker if siege.has_second else siege.victim
    for entity in siege.entities:
        if not all(siege.trial.rows[field.target] for field in entity.references if field.required):
            continue
        known = siege.trial.list_rows(entity, who).keys()
        others = siege.look_at(entity).keys()
        typed = siege.fill(who, entity)
        if any(siege.blueprint.entity(field.target).read == "owner" for field in entity.references):
            who = siege.victim
            typed = siege.fill(who, entity)
            known = siege.trial.list_rows(entity, who).keys()
        more = {"id": str(NO_SUCH_ID), "owner": "1", "owner_id": "1", "created": "1999-01-01"}
        siege.send(who, "POST", f"/{entity.name}", {**typed, **more})
        new = siege.trial.list_rows(entity, who).keys() - known
        if str(NO_SUCH_ID) in new:
            raise StepFailed(f"the id of a {entity.name} can be chosen")
        if entity.read == "owner" and who is siege.attacker:
            if not new or siege.look_at(entity).keys() != others:
                raise StepFailed(f"the owner of a {entity.name} can be chosen")
            id = next(iter(new))
            siege.send(who, "POST", f"/{entity.name}/{id}", {**typed, **more})
            if id not in siege.trial.list_rows(entity, who):
                raise StepFailed(f"the owner of a {entity.name} can be changed")


def _log_in(siege: _Siege, client: Client, next_path: str = "", password: str = PASSWORD) -> AppAnswer:
    """Log the victim in; the answer to the form."""
    asked = f"?next={quote(next_path)}" if next_path else ""
    form = read_page(siege.send(client, "GET", f"/login{asked}").text).find_form("/login")
    if form is None:
        raise NotTried("there is no form to log in")
    return siege.send(client, "POST", "/login", {**form.values, "email": FIRST, "password": password})


def _is_in(siege: _Siege, cookies: Mapping[str, str]) -> bool:
    """Whether somebody with these cookies may add rows."""
    client = Client(siege.app)
    client.cookies = dict(cookies)
    return siege.send(client, "GET", f"/{siege.entities[0].name}/new").status == 200


def fix_session(siege: _Siege) -> None:
    """Cookies that somebody else knows from before the login must be worth nothing after it."""
    siege.need_accounts()
    client = Client(siege.app)
    siege.send(client, "GET", "/login")
    before = dict(client.cookies)
    _log_in(siege, client)
    if not _is_in(siege, client.cookies):
        raise NotTried("nobody could log in")
    if before and _is_in(siege, before):
        raise StepFailed("the session from before the login is logged in after it")
    for chosen in ("fixed", "1", "admin"):
        if _is_in(siege, dict.fromkeys(client.cookies, chosen)):
            raise StepFailed("a session that was made up is logged in")


def forge_session(siege: _Siege) -> None:
    """Session cookies that the app never gave."""
    siege.need_accounts()
    client = Client(siege.app)
    _log_in(siege, client)
    good = dict(client.cookies)
    for name, value in good.items():
        head, _, tail = value.partition(".")
        forged = [f"{head}.", f".{tail}", head, f"1.{tail}", f"{head}x.{tail}", f"{head}.{tail[:-1]}0", "1", "1.1"]
        for other in ("é", "\x7f", "a" * 5000, *forged):
            cookie = other.encode().decode("latin-1")
            if value != other and name != "said" and len(good) == 1 and _is_in(siege, {name: cookie}):
                raise StepFailed(f"a forged cookie is taken: {other[:40]!r}")
    page = read_page(siege.send(client, "GET", f"/{siege.entities[0].name}/new").text)
    form = page.find_form("/logout")
    if form is None:
        raise StepFailed("there is no way to log out")
    siege.send(client, "POST", "/logout", form.values)
    if _is_in(siege, good):
        raise StepFailed("a session works on after its owner has logged out")


def leave_static(siege: _Siege) -> None:
    """Paths that lead out of the folder of static files."""
    for path in STATIC:
        answer = siege.send(siege.victim, "GET", f"/static/{path}")
        if answer.status == 200 and any(word in answer.text for word in LEAKED):
            raise StepFailed(f"/static/{path} shows a file of the app or of the system")


def send_too_much(siege: _Siege) -> None:
    """More than the app takes in one request."""
    entity = siege.entities[0]
    typed = siege.fill(siege.victim, entity) | {"more": "x" * LARGE_BYTES}
    before = siege.look_at(entity)
    if (answer := siege.send(siege.victim, "POST", f"/{entity.name}", typed)).status != 413:
        raise StepFailed(f"a body of {LARGE_BYTES} bytes answers {answer.status} in place of 413")
    if siege.look_at(entity) != before:
        raise StepFailed("a body that is too large adds a row")


def send_malformed(siege: _Siege) -> None:
    """Bodies that are no form, or are cut off."""
    entity = siege.entities[0]
    csrf = siege.read_csrf(siege.victim)
    bodies: tuple[tuple[str, bytes], ...] = (
        ("application/json", b'{"csrf": "' + csrf.encode() + b'", "a": [1]}'),
        ("application/json", b"{"),
        ("multipart/form-data", b"--x\r\nnothing"),
        ("multipart/form-data; boundary=x", b'--x\r\nContent-Disposition: form-data; name="csrf"\r\n\r\n'),
        (f"{FORM_TYPE}; charset=utf-16", f"csrf={csrf}".encode("utf-16")),
        (FORM_TYPE, b"\xff\xfe=\xff&csrf=" + csrf.encode()),
        (FORM_TYPE, b"%ff%zz=%&csrf=" + csrf.encode()),
        (FORM_TYPE, b"&".join([b"a=1"] * 5000) + b"&csrf=" + csrf.encode()),
        (FORM_TYPE, b""),
        ("", b"csrf=" + csrf.encode()),
    )
    paths = [f"/{entity.name}", *(["/login", "/register", "/logout"] if siege.blueprint.accounts else [])]
    before = siege.look_at(entity)
    for path in paths[:3]:
        for kind, body in bodies:
            siege.send(siege.victim, "POST", path, body, {"Content-Type": kind})
    if siege.look_at(entity) != before:
        raise StepFailed("a malformed body adds a row")


def send_hostile_text(siege: _Siege) -> None:
    """No text makes it fail, and a NUL goes nowhere."""
    sums = ("{{ 7919*7907 }}", "${7919*7907}")
    made = "62615533"  # what no number of a form is by chance
    texts = ("a\0b", "\udc80", "\ud800", "\u202eabc", "x" * 200_000, "\x1b[31m", "\ufffe", "%00", *sums)
    for entity in siege.entities:
        good = siege.fill(siege.victim, entity)
        for text in texts:
            siege.send(siege.victim, "GET", f"/{entity.name}?q={quote(text, errors='surrogatepass')[:3000]}")
            for field in entity.fields:
                siege.send(siege.victim, "POST", f"/{entity.name}", good | {field.name: text})
        for values in siege.look_at(entity).values():
            if any("\0" in shown or shown == made for shown in values.values()):
                raise StepFailed(f"a {entity.name} holds a NUL, or what a template made of it")
    if siege.blueprint.accounts:
        for text in texts[:4]:
            _log_in(siege, Client(siege.app), password=text)


def send_huge_numbers(siege: _Siege) -> None:
    """Numbers and moments that no column holds."""
    for entity in siege.entities:
        for value in map(quote, (*HUGE, *MOMENTS)):
            names = ("page", *(field.name for field in entity.fields))
            for path in (*(f"/{entity.name}?{name}={value}" for name in names), f"/{entity.name}/{value}"):
                siege.send(siege.victim, "GET", path)
        good = siege.fill(siege.victim, entity)
        numbers = [field for field in entity.fields if field.type not in ("text", "long_text", "email", "link")]
        for field in numbers:
            for value in (*HUGE[3:-1], *MOMENTS, "9" * 400):
                answer = siege.send(siege.victim, "POST", f"/{entity.name}", good | {field.name: value})
                if answer.status not in (403, 422):
                    raise StepFailed(f"{entity.name}.{field.name} takes {value[:30]!r}: {answer.status}")


def lie_about_host(siege: _Siege) -> None:
    """Headers that claim another host, looked for in links and redirects."""
    names = ("Host", "X-Forwarded-Host", "X-Host", "Forwarded")
    paths = ["/", f"/{siege.entities[0].name}", "/login"]
    for client in (siege.victim, Client(siege.app)):
        for name in names:
            value = f"host={ELSEWHERE}" if name == "Forwarded" else ELSEWHERE
            for path in paths:
                answer = siege.send(client, "GET", path, None, {name: value})
                if ELSEWHERE in answer.header("location") + answer.text:
                    raise StepFailed(f"{path} repeats what {name} says")


def lead_away(siege: _Siege) -> None:
    """Addresses elsewhere to go on to after the login."""
    siege.need_accounts()
    for place in LEADS_AWAY:
        answer = _log_in(siege, Client(siege.app), place)
        where = answer.header("location")
        split = urlsplit(where)
        if split.netloc not in ("", "localhost") or split.scheme not in ("", "http") or ELSEWHERE in where[:20]:
            raise StepFailed(f"after the login next={place!r} leads to {where!r}")
        if "a" in answer.cookies:
            raise StepFailed("next= sets a header")


def search_wildcards(siege: _Siege) -> None:
    """Wildcards of SQL, which must stand for themselves."""
    tried = False
    for entity in siege.entities:
        texts = [field.name for field in entity.fields if field.type in ("text", "long_text")]
        for sign in ("%25", "_", "%5C"):
            there = siege.look_at(entity)
            plain = [id for id, row in there.items() if not any(c in row.get(n, "") for n in texts for c in "%_\\")]
            shown = read_page(siege.send(siege.victim, "GET", f"/{entity.name}?q={sign}").text).rows()
            tried = tried or bool(texts)
            if texts and (found := {*plain} & shown.keys()):
                raise StepFailed(f"/{entity.name}?q={sign} finds row {min(found)}, in which it is not")
    if not tried:
        raise NotTried("nothing can be searched")


def send_twice(siege: _Siege) -> None:
    """A name twice: no failure, and a wrong token is not saved by a right one."""
    entity = siege.entities[0]
    good = [*siege.fill(siege.victim, entity).items()]
    for name, value in good:
        siege.send(siege.victim, "POST", f"/{entity.name}", [*good, (name, value + "0")])
        siege.send(siege.victim, "GET", f"/{entity.name}?{name}=1&{name}=2&q=a&q=b&page=1&page=2&sort=a&sort=b")
    before = siege.look_at(entity)
    siege.send(siege.victim, "POST", f"/{entity.name}", [("csrf", "0" * 64), *good])
    if siege.look_at(entity) != before:
        raise StepFailed("a wrong token beside a right one is taken")


def tell_accounts(siege: _Siege) -> None:
    """Whether an address has an account cannot be told from a login that fails."""
    siege.need_accounts()
    client = Client(siege.app)
    known = _log_in(siege, client, password="wrong horse 9")  # noqa: S106
    form = {"csrf": siege.read_csrf(client), "email": "nobody@example.org", "password": "wrong horse 9"}
    unknown = siege.send(client, "POST", "/login", form)
    errors = [read_page(answer.text).errors for answer in (known, unknown)]
    if known.status != unknown.status or errors[0] != errors[1]:
        raise StepFailed(f"a wrong password is answered by {errors[0]}, an unknown address by {errors[1]}")


def guess_password(siege: _Siege) -> None:
    """Many wrong passwords in a row."""
    siege.need_accounts()
    client = Client(siege.app)
    answers = [_log_in(siege, client, password=f"wrong horse {number}").status for number in range(GUESSES)]
    if answers[-1] != 429:
        raise StepFailed(f"after {GUESSES} wrong passwords the next is answered by {answers[-1]}")


def check_headers(siege: _Siege) -> None:
    """What keeps a browser from running what is not the app's own."""
    client = Client(siege.app)
    paths = [f"/{siege.entities[0].name}", "/no-such-page", *(["/login"] if siege.blueprint.accounts else [])]
    for path in paths:
        answer = siege.send(client, "GET", path)
        policy = answer.header("content-security-policy")
        wrong = [
            *([] if "default-src 'self'" in policy and "unsafe" not in policy else ["Content-Security-Policy"]),
            *([] if answer.header("x-content-type-options") == "nosniff" else ["X-Content-Type-Options"]),
            *([] if "frame-ancestors" in policy or answer.header("x-frame-options") else ["X-Frame-Options"]),
            *([] if answer.header("referrer-policy") in ("same-origin", "no-referrer") else ["Referrer-Policy"]),
        ]
        for name, value in answer.headers:
            flags = value.lower()
            if name.lower() == "set-cookie" and not ("httponly" in flags and "samesite" in flags):
                wrong.append("Set-Cookie")
        if wrong:
            raise StepFailed(f"{path} lacks {', '.join(wrong)}")


ATTACKS: dict[str, Callable[[_Siege], None]] = {
    "inject_sql": inject_sql,
    "read_others": read_others,
    "change_others": change_others,
    "change_as_nobody": change_as_nobody,
    "refer_to_others": refer_to_others,
    "assign_more": assign_more,
    "omit_csrf": omit_csrf,
    "forge_csrf": forge_csrf,
    "change_by_link": change_by_link,
    "use_other_methods": use_other_methods,
    "store_markup": store_markup,
    "reflect_markup": reflect_markup,
    "fix_session": fix_session,
    "forge_session": forge_session,
    "leave_static": leave_static,
    "send_too_much": send_too_much,
    "send_malformed": send_malformed,
    "send_hostile_text": send_hostile_text,
    "send_huge_numbers": send_huge_numbers,
    "send_twice": send_twice,
    "lie_about_host": lie_about_host,
    "lead_away": lead_away,
    "search_wildcards": search_wildcards,
    "check_headers": check_headers,
    "tell_accounts": tell_accounts,
    "guess_password": guess_password,
}
"""In this order: the last one locks the victim out."""
