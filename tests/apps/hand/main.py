"""The app of `test_blueprint.GOOD`, written by hand: good as it stands, bad in one way for each name in HOLES."""

import hashlib
import hmac
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote

from fastapi import FastAPI, Request
from fastapi.responses import FileResponse, HTMLResponse, PlainTextResponse, RedirectResponse, Response
from jinja2 import DictLoader, Environment
from sqlalchemy import ForeignKey, NullPool, Text, create_engine, event, select, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, joinedload, mapped_column, relationship

HOLES: frozenset[str] = frozenset()
FOLDER = Path(os.environ.get("APP_DATA", "."))
DATA = FOLDER / "data.sqlite"
if "memory_only" in HOLES:
    DATA.unlink(missing_ok=True)
SECRET_FILE = FOLDER / "secret"
if not SECRET_FILE.exists():
    SECRET_FILE.write_text(secrets.token_hex(32))
SECRET = SECRET_FILE.read_bytes()
ROWS = 50
MOST_BYTES = 1_000_000
ATTEMPTS, ATTEMPT_SECONDS = 10, 600.0
TOO_SHORT, WRONG, TOO_OFTEN = "8 letters or more", "wrong", "too often"
failures: dict[str, list[float]] = {}


class Base(DeclarativeBase):
    pass


class Account(Base):
    __tablename__ = "account"
    id: Mapped[int] = mapped_column(primary_key=True)
    email: Mapped[str] = mapped_column(unique=True)
    password: Mapped[str]


class Login(Base):
    __tablename__ = "login"
    id: Mapped[str] = mapped_column(primary_key=True)
    account: Mapped[int]


class Tool(Base):
    __tablename__ = "tool"
    id: Mapped[int] = mapped_column(primary_key=True)
    created: Mapped[datetime] = mapped_column(default=datetime.now)
    owner: Mapped[int]
    name: Mapped[str] = mapped_column(Text, unique="no_unique" not in HOLES)
    state: Mapped[str]
    pieces: Mapped[int]
    least: Mapped[int]


class Loan(Base):
    __tablename__ = "loan"
    id: Mapped[int] = mapped_column(primary_key=True)
    created: Mapped[datetime] = mapped_column(default=datetime.now)
    owner: Mapped[int] = mapped_column(index=True)
    tool_id: Mapped[int] = mapped_column(ForeignKey("tool.id", ondelete="CASCADE"), index=True)
    starts: Mapped[date]
    ends: Mapped[date]
    tool: Mapped[Tool] = relationship()


KINDS: dict[str, type[Tool] | type[Loan]] = {"tool": Tool, "loan": Loan}
TYPES = {
    "tool": {"name": "text", "state": "choice", "pieces": "number", "least": "number"},
    "loan": {"tool": "reference", "starts": "date", "ends": "date"},
}
engine = create_engine(f"sqlite:///{DATA}", poolclass=NullPool)


@event.listens_for(engine, "connect")
def prepare(connection: Any, record: object) -> None:
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA busy_timeout=5000")
    if not {"any_reference", "dangling"} & HOLES:
        connection.execute("PRAGMA foreign_keys=ON")


Base.metadata.create_all(engine)

BASE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Lending</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="/static/app.css"><script src="/static/htmx.min.js" defer></script>
{% if 'foreign_script' in holes %}<script src="https://cdn.example.org/x.js"></script>{% endif %}
{% if 'console_error' in holes %}<script src="/static/throws.js"></script>{% endif %}
</head><body hx-boost:inherited="{{ 'false' if 'reloads' in holes else 'true' }}"><header><a href="/">Lending</a>
{% if me %}<form method="post" action="/logout"><input type="hidden" name="csrf" value="{{ csrf }}">
<button>Log out</button></form>{% endif %}</header>
<nav><a href="/tool">Tools</a> <a href="/tool?view=few">Few</a> <a href="/loan">Loans</a></nav><main>
{% macro control(kind, field, value, errors, tools) %}<p>
{% if 'no_label' not in holes %}<label for="{{ kind }}-{{ field }}">{{ field }}</label>{% endif %}
{% if kinds[kind][field] == 'choice' %}<select name="{{ field }}" id="{{ kind }}-{{ field }}">
{% for one in ['whole', 'broken'] %}
<option value="{{ one }}" {{ 'selected' if one == value }}>{{ one }}</option>{% endfor %}</select>
{% elif kinds[kind][field] == 'reference' %}<select name="{{ field }}" id="{{ kind }}-{{ field }}">
{% for one in tools %}
<option value="{{ one.id }}" {{ 'selected' if one.id|string == value }}>{{ one.name }}</option>{% endfor %}</select>
{% else %}<input name="{{ field }}" id="{{ kind }}-{{ field }}" type="{{ kinds[kind][field] }}" value="{{ value }}"
{% if errors[field] %}aria-invalid="true" aria-describedby="error-{{ field }}"{% endif %}>{% endif %}
{% if errors[field] %}<p class="error" id="error-{{ field }}" role="alert">{{ errors[field] }}</p>{% endif %}</p>
{% endmacro %}
{% macro buttons(kind, row, mine) %}{% if mine %}<a data-edit href="/{{ kind }}/{{ row.id }}/edit">Edit</a>
{% if kind == 'tool' %}<form method="post" action="/tool/{{ row.id }}/do/take" data-action="take">
<input type="hidden" name="csrf" value="{{ csrf }}"><button>Take</button></form>{% endif %}
<form method="post" action="/{{ kind }}/{{ row.id }}/delete" data-delete>
<input type="hidden" name="csrf" value="{{ csrf }}">
<button {{ 'tabindex=-1' if 'no_keyboard' in holes }}>Delete</button></form>{% endif %}{% endmacro %}
{% macro table(kind, rows, me) %}<table {{ 'class=wide' if 'wide' in holes }}><tbody>{% for row in rows %}
<tr data-row="{{ row.id }}">{% if kind == 'tool' %}
<td data-field="name"><a href="/tool/{{ row.id }}">{{ row.name|safe if 'no_escape' in holes else row.name }}</a></td>
<td data-field="state">{{ row.state }}</td><td data-field="pieces">{{ row.pieces }}</td>
<td data-field="least">{{ row.least }}</td><td data-field="scarce">{{ 'yes' if scarce(row) else 'no' }}</td>{% else %}
<td data-field="tool">{{ row.tool.name if row.tool else '#' ~ row.tool_id }}</td>
<td data-field="starts">{{ row.starts }}</td>
<td data-field="ends">{{ row.ends }}</td>{% endif %}<td>{{ buttons(kind, row, kind == 'tool' or row.owner == me) }}</td>
</tr>{% endfor %}</tbody></table>{% endmacro %}
{% block content %}{% endblock %}</main></body></html>"""
PAGES = {
    "base": BASE,
    "account": """{% extends 'base' %}{% block content %}<h1>{{ what }}</h1><form method="post" action="/{{ what }}">
<input type="hidden" name="csrf" value="{{ csrf }}"><input type="hidden" name="next" value="{{ next }}">
{% for name, kind in [('email', 'email'), ('password', 'password')] %}<p>
<label for="{{ name }}">{{ name }}</label> <input id="{{ name }}" name="{{ name }}" type="{{ kind }}">
{% if errors[name] %}<p class="error" id="error-{{ name }}" role="alert">{{ errors[name] }}</p>{% endif %}</p>
{% endfor %}<button>Go</button></form>{% endblock %}""",
    "list": """{% extends 'base' %}{% block content %}<h1>{{ kind }}</h1><form method="get" action="/{{ kind }}">
<label for="q">Search</label> <input id="q" name="q" value="{{ q }}"><button>Search</button></form>
{% if q and 'reflects' in holes %}<p>Results for {{ q|safe }}</p>{% endif %}
<a href="/{{ kind }}/new">New</a>{{ table(kind, rows, me) }}{% endblock %}""",
    "form": """{% extends 'base' %}{% block content %}<h1>{{ kind }}</h1><form method="post" action="{{ action }}">
<input type="hidden" name="csrf" value="{{ csrf }}">{% for field in kinds[kind] %}
{{ control(kind, field, values[field], errors, tools) }}{% endfor %}
{% if errors['form'] %}<p class="error" id="error-form" role="alert">{{ errors['form'] }}</p>{% endif %}
<button>Save</button></form>{% endblock %}""",
    "row": """{% extends 'base' %}{% block content %}<h1>{{ kind }}</h1>{% if 'blank_page' not in holes %}
<dl>{% for field in kinds[kind] %}<dt>{{ field }}</dt>
<dd>{{ row.tool.name if field == 'tool' and row.tool else row[field] }}</dd>
{% endfor %}</dl>{% endif %}{{ buttons(kind, row, kind == 'tool' or row.owner == me) }}
{% if kind == 'tool' and 'child_lost' not in holes %}<section data-children="loan">{{ table('loan', loans, me) }}
<form method="post" action="/loan"><input type="hidden" name="csrf" value="{{ csrf }}">
<input type="hidden" name="tool" value="{{ row.id }}">{{ control('loan', 'starts', '', {}, []) }}
{{ control('loan', 'ends', '', {}, []) }}<button>Add</button></form></section>{% endif %}{% endblock %}""",
}


def is_scarce(row: Tool) -> bool:
    return row.pieces > row.least if "computed_wrong" in HOLES else row.pieces <= row.least


pages = Environment(loader=DictLoader(PAGES), autoescape=True)
pages.globals.update(holes=HOLES, kinds=TYPES, scarce=is_scarce)
app = FastAPI(openapi_url=None)


class Refused(Exception):
    def __init__(self, status: int, headers: dict[str, str] | None = None) -> None:
        self.status, self.headers = status, headers or {}


@app.exception_handler(Refused)
def refuse(request: Request, refused: Refused) -> Response:
    return PlainTextResponse("This is not for you.", refused.status, refused.headers)


@app.middleware("http")
async def guard(request: Request, call_next: Any) -> Response:
    if "no_limit" not in HOLES:
        length = request.headers.get("content-length", "0")
        if not length.isdigit() or int(length) > MOST_BYTES:
            return PlainTextResponse("too large", 413)
    response: Response = await call_next(request)
    if "no_headers" not in HOLES:
        response.headers["Content-Security-Policy"] = "default-src 'self'; frame-ancestors 'none'; form-action 'self'"
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["X-Frame-Options"] = "DENY"
        response.headers["Referrer-Policy"] = "same-origin"
    if "stale" in HOLES and request.method == "GET" and request.url.path in ("/tool", "/loan"):
        response.headers["Cache-Control"] = "max-age=600"
    return response


def sign(value: str) -> str:
    return hmac.new(SECRET, value.encode(), hashlib.sha256).hexdigest()[:32]


def hash_password(password: str, salt: str) -> str:
    made = hashlib.scrypt(password.encode(), salt=salt.encode(), n=2**12, r=8, p=1)
    return f"{salt}${made.hex()}"


class Visit:
    """One request: who asks, with which session."""

    def __init__(self, request: Request, session: Session) -> None:
        self.request, self.session = request, session
        cookie = request.cookies.get("sid", "")
        value, _, mark = cookie.partition(".")
        is_signed = hmac.compare_digest(mark, sign(value)) if mark.isascii() else False
        self.sid = value if is_signed or "unsigned" in HOLES else ""
        self.is_new = not self.sid
        if not self.sid:
            self.sid = secrets.token_hex(16)
        login = session.get(Login, self.sid)
        self.me = login.account if login else None
        if "unsigned" in HOLES and self.sid.isdigit():
            self.me = int(self.sid)

    @property
    def csrf(self) -> str:
        return sign("csrf") if "csrf_any" in HOLES else sign(f"csrf {self.sid}")

    def show(self, page: str, status: int = 200, **values: Any) -> Response:
        given = {"errors": {}, "tools": [], "me": self.me, "csrf": self.csrf, "q": "", "next": "", **values}
        response = HTMLResponse(pages.get_template(page).render(given), status)
        return self.keep(response)

    def keep(self, response: Response) -> Response:
        if self.is_new:
            flags: dict[str, Any] = {} if "no_headers" in HOLES else {"httponly": True, "samesite": "lax"}
            response.set_cookie("sid", f"{self.sid}.{sign(self.sid)}", **flags)
        return response

    def go(self, path: str) -> Response:
        host = self.request.headers.get("host", "")
        return self.keep(RedirectResponse(f"http://{host}{path}" if "host_links" in HOLES else path, 303))

    async def read(self) -> dict[str, str]:
        body = await self.request.body()
        if "crashes" in HOLES and body.startswith(b"{"):
            raise RuntimeError("no JSON, please")
        if "multipart" in self.request.headers.get("content-type", "") or (
            len(body) > MOST_BYTES and "no_limit" not in HOLES
        ):
            raise Refused(422 if len(body) <= MOST_BYTES else 413)
        try:
            given = parse_qs(body.decode(), True, errors="strict", max_num_fields=1000)
        except ValueError:
            raise Refused(422) from None
        if "duplicates" in HOLES and any(len(values) > 1 for values in given.values()):
            raise RuntimeError("twice")
        form = {name: values[0] for name, values in given.items()}
        if "no_csrf" not in HOLES and not hmac.compare_digest(form.get("csrf", "").encode(), self.csrf.encode()):
            raise Refused(403)
        return form


@contextmanager
def visit(request: Request, needs_login: bool = True) -> Iterator[Visit]:
    with Session(engine, expire_on_commit=False) as session:
        one = Visit(request, session)
        if needs_login and one.me is None and "no_login" not in HOLES:
            raise Refused(303, {"Location": f"/login?next={quote(request.url.path)}"})
        yield one


@app.get("/static/{name:path}", response_model=None)
def static(name: str) -> Response:
    folder = Path(__file__).parent / "static"
    file = Path(os.path.normpath(folder / name)) if "static_anything" in HOLES else folder / Path(name).name
    if "\0" in name or not file.is_file():
        return PlainTextResponse("not found", 404)
    kinds = {".css": "text/css", ".js": "text/javascript"}
    return FileResponse(file, media_type=kinds.get(file.suffix, "text/plain"))


@app.get("/", response_model=None)
def root(request: Request) -> Response:
    with visit(request) as one:
        return one.go("/tool")


@app.get("/register", response_model=None)
@app.get("/login", response_model=None)
def ask_account(request: Request) -> Response:
    with visit(request, False) as one:
        return one.show("account", what=request.url.path[1:], next=request.query_params.get("next", ""))


@app.post("/register", response_model=None)
async def register(request: Request) -> Response:
    with visit(request, False) as one:
        form = await one.read()
        email, password = form.get("email", ""), form.get("password", "")
        errors = {}
        if "no_register" in HOLES or "@" not in email or len(email) > 200 or not email.isprintable():
            errors["email"] = "an address"
        elif one.session.scalar(select(Account).where(Account.email == email)):
            errors["email"] = "taken"
        if not 8 <= len(password) <= 200 or not is_text(password):
            errors["password"] = TOO_SHORT
        if errors:
            return one.show("account", 422, what="register", errors=errors)
        account = Account(email=email, password=hash_password(password, secrets.token_hex(8)))
        one.session.add(account)
        one.session.flush()
        return enter(one, account, "/")


@app.post("/login", response_model=None)
async def log_in(request: Request) -> Response:
    with visit(request, False) as one:
        form = await one.read()
        email, password = form.get("email", ""), form.get("password", "")
        if not is_text(email + password):
            return one.show("account", 422, what="login", errors={"password": WRONG})
        tries = [at for at in failures.get(email, []) if at > time.time() - ATTEMPT_SECONDS]
        if len(tries) >= ATTEMPTS and "no_rate" not in HOLES:
            return one.show("account", 429, what="login", errors={"password": TOO_OFTEN})
        account = one.session.scalar(select(Account).where(Account.email == email))
        if "tells_accounts" in HOLES and not account:
            return one.show("account", 422, what="login", errors={"email": "nobody has this address"})
        known = account.password if account else "$"
        fits = hmac.compare_digest(hash_password(password, known.partition("$")[0]), known)
        if not account or not (fits or "any_password" in HOLES):
            failures[email] = [*tries, time.time()]
            return one.show("account", 422, what="login", errors={"password": WRONG})
        wanted = form.get("next", "")
        is_local = wanted.startswith("/") and not wanted.startswith(("//", "/\\")) and wanted.isprintable()
        if "any_next" in HOLES and wanted:
            return enter(one, account, "", wanted)
        return enter(one, account, wanted if is_local and "\\" not in wanted else "/")


def enter(one: Visit, account: Account, path: str, elsewhere: str = "") -> Response:
    if "fixed_session" not in HOLES:
        one.session.query(Login).filter(Login.id == one.sid).delete()
        one.sid, one.is_new = secrets.token_hex(16), True
    one.session.merge(Login(id=one.sid, account=account.id))
    one.session.commit()
    return one.keep(RedirectResponse(elsewhere, 303)) if elsewhere else one.go(path)


@app.post("/logout", response_model=None)
async def log_out(request: Request) -> Response:
    with visit(request, False) as one:
        await one.read()
        if not {"session_lives", "logout_nothing"} & HOLES:
            one.session.query(Login).filter(Login.id == one.sid).delete()
            one.session.commit()
        response = RedirectResponse("/login", 303)
        if "logout_nothing" not in HOLES:
            response.delete_cookie("sid")
        return response


def is_text(value: str) -> bool:
    return "\0" not in value and len(value) <= 10_000


def read_id(typed: str) -> int:
    return int(typed) if typed.isascii() and typed.isdigit() and len(typed) < 19 else 0


def find_visible(one: Visit, kind: str, row_id: str) -> Any:
    if "huge_crash" in HOLES and row_id.isdigit() and len(row_id) > 18:
        raise RuntimeError("huge")
    row = one.session.get(KINDS[kind], read_id(row_id)) if kind in KINDS else None
    if row is None or (kind == "loan" and row.owner != one.me and not {"no_owner", "no_login"} & HOLES):
        raise Refused(404)
    return row


def read_fields(one: Visit, kind: str, form: dict[str, str], row_id: int = 0) -> tuple[dict[str, Any], dict[str, str]]:
    """The values, and what is wrong with them."""
    values, errors = dict[str, Any](), dict[str, str]()
    for name, what in TYPES[kind].items():
        typed = form.get(name, "").strip()
        if not typed:
            if "no_required" not in HOLES:
                errors[name] = "is needed"
            values[name] = {"text": "", "choice": "whole", "number": 0}.get(what)
        elif "\0" in typed and "nul_crash" in HOLES:
            raise RuntimeError("NUL")
        elif not is_text(typed) or any("\ud800" <= char <= "\udfff" for char in typed):
            errors[name] = "is no text"
        elif what == "number":
            fits = typed.isascii() and typed.removeprefix("-").isdigit() and len(typed) < 15
            values[name] = int(typed) if fits else 0
            if not fits or (values[name] < 0 and "no_minimum" not in HOLES):
                errors[name] = "a number from 0"
        elif what == "date":
            try:
                values[name] = date.fromisoformat(typed)
            except ValueError:
                errors[name] = "a day"
        elif what == "choice" and typed not in ("whole", "broken"):
            errors[name] = "one of these"
        elif what == "reference":
            tool = (
                one.session.get(Tool, int(typed)) if typed.isascii() and typed.isdigit() and len(typed) < 15 else None
            )
            if tool is None and "any_reference" not in HOLES:
                errors[name] = "one of these"
            else:
                values["tool_id"] = tool.id if tool else 0
        else:
            values[name] = typed
    values.pop("tool", None)
    if kind == "loan" and not errors and "no_rule" not in HOLES:
        if values["starts"] > values["ends"]:
            errors["form"] = "ends before it starts"
        taken = select(Loan).where(Loan.tool_id == values["tool_id"], Loan.id != row_id)
        if one.session.scalar(taken.where(Loan.starts < values["ends"], Loan.ends > values["starts"]).limit(1)):
            errors["form"] = "taken then"
    return values, errors


def show_form(one: Visit, kind: str, action: str, values: dict[str, str], errors: dict[str, str]) -> Response:
    tools = one.session.scalars(select(Tool).order_by(Tool.name).limit(200)).all() if kind == "loan" else []
    if "forgets_typed" in HOLES and errors:
        values = {}
    given = {"kind": kind, "action": action, "values": values, "errors": errors, "tools": tools}
    return one.show("form", 422 if errors else 200, **given)


@app.get("/{kind}", response_model=None)
def list_rows(request: Request, kind: str) -> Response:
    if kind not in KINDS:
        raise Refused(404)
    with visit(request) as one:
        table, asked = KINDS[kind], request.query_params
        query = select(table)
        if kind == "loan":
            query = query if "slow_list" in HOLES else query.options(joinedload(Loan.tool))
            query = query if {"no_owner", "no_login"} & HOLES else query.where(Loan.owner == one.me)
        q = asked.get("q", "").replace("\0", "")
        if q and kind == "tool" and "search_all" not in HOLES:
            if "sql_injection" in HOLES:
                query = query.where(text(f"name LIKE '%{q}%'"))
            elif "wildcards" in HOLES:
                query = query.where(Tool.name.like(f"%{q}%"))
            else:
                query = query.where(Tool.name.contains(q, autoescape=True))
        if (state := asked.get("state")) and kind == "tool" and "filter_all" not in HOLES:
            query = query.where(Tool.state == state)
        if (tool_id := read_id(asked.get("tool", ""))) and kind == "loan" and "filter_all" not in HOLES:
            query = query.where(Loan.tool_id == tool_id)
        if asked.get("view") == "few" and kind == "tool" and "view_all" not in HOLES:
            query = query.where(Tool.pieces < 3)
        sort = asked.get("sort", "")
        if sort.removeprefix("-") in TYPES[kind] and "sort_none" not in HOLES:
            column: Any = getattr(table, "tool_id" if sort.endswith("tool") else sort.removeprefix("-"))
            query = query.order_by(column.desc() if sort.startswith("-") else column)
        page = asked.get("page", "1")
        number = int(page) if page.isascii() and page.isdigit() and len(page) < 10 and int(page) else 1
        if "huge_crash" in HOLES and page.isdigit() and len(page) > 9:
            raise RuntimeError("huge")
        rows = one.session.scalars(query.order_by(table.id.desc()).limit(ROWS).offset((number - 1) * ROWS)).all()
        return one.show("list", kind=kind, rows=[] if "not_listed" in HOLES else rows, q=q)


@app.get("/{kind}/new", response_model=None)
def ask_new(request: Request, kind: str) -> Response:
    if kind not in KINDS:
        raise Refused(404)
    with visit(request) as one:
        return show_form(one, kind, f"/{kind}", {}, {})


@app.post("/{kind}", response_model=None)
async def add(request: Request, kind: str) -> Response:
    if kind not in KINDS:
        raise Refused(404)
    with visit(request) as one:
        form = await one.read()
        values, errors = read_fields(one, kind, form)
        if not errors:
            more: dict[str, Any] = {"owner": one.me or 0}
            if "mass_assignment" in HOLES:
                more |= {name: int(form[name]) for name in ("owner", "id") if form.get(name, "").isdigit()}
            row = KINDS[kind](**values, **more)
            one.session.add(row)
            try:
                one.session.commit()
            except IntegrityError:
                one.session.rollback()
                return show_form(one, kind, f"/{kind}", form, {"name": "is there already"})
            return one.go(f"/{kind}/{row.id}")
        return show_form(one, kind, f"/{kind}", form, errors)


@app.get("/{kind}/{row_id}", response_model=None)
def show_row(request: Request, kind: str, row_id: str) -> Response:
    with visit(request) as one:
        row = find_visible(one, kind, row_id)
        query = select(Loan).options(joinedload(Loan.tool)).where(Loan.tool_id == row.id).limit(ROWS)
        loans = one.session.scalars(query if "no_owner" in HOLES else query.where(Loan.owner == one.me)).all()
        return one.show("row", kind=kind, row=row, loans=loans if kind == "tool" else [])


@app.get("/{kind}/{row_id}/edit", response_model=None)
def ask_edit(request: Request, kind: str, row_id: str) -> Response:
    with visit(request) as one:
        row = find_visible(one, kind, row_id)
        values = {name: str(getattr(row, "tool_id" if name == "tool" else name)) for name in TYPES[kind]}
        return show_form(one, kind, f"/{kind}/{row_id}", values, {})


@app.post("/{kind}/{row_id}", response_model=None)
async def change(request: Request, kind: str, row_id: str) -> Response:
    with visit(request) as one:
        row = find_visible(one, kind, row_id)
        form = await one.read()
        values, errors = read_fields(one, kind, form, row.id)
        if errors:
            return show_form(one, kind, f"/{kind}/{row_id}", form, errors)
        if "edit_lost" not in HOLES:
            for name, value in values.items():
                setattr(row, name, value)
            if "mass_assignment" in HOLES and form.get("owner", "").isdigit():
                row.owner = int(form["owner"])
        try:
            one.session.commit()
        except IntegrityError:
            one.session.rollback()
            return show_form(one, kind, f"/{kind}/{row_id}", form, {"name": "is there already"})
        return one.go(f"/{kind}/{row_id}")


@app.post("/{kind}/{row_id}/delete", response_model=None)
async def delete(request: Request, kind: str, row_id: str) -> Response:
    with visit(request) as one:
        row = find_visible(one, kind, row_id)
        await one.read()
        if "delete_nothing" not in HOLES:
            one.session.delete(row)
            one.session.commit()
        return one.go(f"/{kind}")


def delete_by_link(request: Request, kind: str, row_id: str) -> Response:
    with visit(request) as one:
        one.session.delete(find_visible(one, kind, row_id))
        one.session.commit()
        return one.go(f"/{kind}")


if "get_deletes" in HOLES:
    app.get("/{kind}/{row_id}/delete", response_model=None)(delete_by_link)
if "put_deletes" in HOLES:
    app.put("/{kind}/{row_id}", response_model=None)(delete_by_link)


@app.post("/tool/{row_id}/do/take", response_model=None)
async def take(request: Request, row_id: str) -> Response:
    with visit(request) as one:
        row = find_visible(one, "tool", row_id)
        await one.read()
        if row.pieces > 0 and "action_nothing" not in HOLES:
            row.pieces -= 1
            one.session.commit()
        return one.go("/tool")
