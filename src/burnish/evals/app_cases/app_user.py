"""A person in front of an app that they have never seen: finds links, buttons and fields by what they say.

Nothing here knows how an app was made. Rows are found by what stands in them, fields by their labels or, where a label
says nothing, by their kind; so whatever a sensible person could use passes.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from types import MappingProxyType
from urllib.parse import urljoin, urlsplit

from burnish.apps.judging.browsing import BrowserTab
from burnish.apps.judging.page_reader import Element, Form, Page
from burnish.apps.judging.served_app import Client, Visitor

ROW_TAGS = ("tr", "li", "article")
PASSWORD_TYPED = "Correct-horse-7-battery"
REGISTER = ("register", "sign up", "create account", "create an account", "join")
LOG_IN = ("log in", "login", "sign in")
LOG_OUT = ("log out", "logout", "sign out")
ADD = ("add", "new", "create", "write", "book", "reserve", "+")
EDIT = ("edit", "change")
DELETE = ("delete", "remove")
CONFIRM = (*DELETE, "yes", "confirm")
NOTHING_MORE: Mapping["Wish", str] = MappingProxyType({})


class Missed(Exception):
    """What a person wanted and did not get, as a sentence."""


def require(is_met: object, otherwise: str) -> None:
    """Raises Missed with what is missing."""
    if not is_met:
        raise Missed(otherwise)


@dataclass(frozen=True)
class Wish:
    """Something to fill in: words that its label may have, the best first, and the kinds of fields that take it."""

    words: tuple[str, ...]
    kinds: tuple[str, ...] = ("text", "textarea")


@dataclass(frozen=True)
class Thing:
    """What an app lists."""

    words: tuple[str, ...]
    """That the link to its list may say, the best first."""
    title: Wish
    more: Mapping[Wish, str] = field(default_factory=dict)
    """What is filled in beside the title, where nothing else is said."""


@dataclass(frozen=True)
class Control:
    """One field of a form."""

    name: str
    kind: str
    label: str
    is_required: bool
    value: str
    """Of a checkbox: what it sends."""
    options: Mapping[str, str]
    """Of a select: what is read, and what that sends."""
    description: str
    """What else is said of it, errors too."""


EMAIL = Wish(("mail", "user", "name"), ("email", "text"))
PASSWORD = Wish(("password",), ("password",))


def matches(text: str, words: Iterable[str]) -> bool:
    """Whether a text says one of these; "not done" does not say "done"."""
    return any(re.search(rf"(?<!not )(?<!\w){re.escape(word)}", text.lower()) for word in words)


def read_controls(page: Page, form: Form) -> list[Control]:
    """The fields of a form that a person sees."""
    labels = {one.attributes["for"]: one.text for one in page.root.find("label", **{"for": ""})}
    labels |= {str(id(inner)): label.text for label in form.element.find("label") for inner in label.walk()}
    texts = {one.attributes["id"]: one.text for one in page.root.find(id="")}
    found = []
    for one in form.element.walk():
        has, name = one.attributes, one.attributes.get("name", "")
        kind = one.tag if one.tag in ("select", "textarea") else has.get("type", "text").lower()
        if (
            one.tag not in ("input", "select", "textarea")
            or not name
            or kind in ("hidden", "submit", "button", "reset")
        ):
            continue
        said = (labels.get(has.get("id", "")), labels.get(str(id(one))), has.get("aria-label"), has.get("placeholder"))
        found.append(
            Control(
                name=name,
                kind=kind,
                label=next((label for label in said if label), name),
                is_required="required" in has or has.get("aria-required") == "true",
                value=has.get("value", "on"),
                options={item.text: item.attributes.get("value", item.text) for item in one.find("option")},
                description=" ".join(texts.get(part, "") for part in has.get("aria-describedby", "").split()),
            )
        )
    return found


def choose_control(controls: Iterable[Control], wish: Wish) -> Control | None:
    """The field for a wish: by its label, the shortest first; else the first of its kinds."""
    fit = [one for one in controls if one.kind in wish.kinds]
    by_label = (
        one for word in wish.words for one in sorted(fit, key=lambda one: len(one.label)) if matches(one.label, (word,))
    )
    by_kind = (one for kind in wish.kinds for one in fit if one.kind == kind)
    return next(by_label, next(by_kind, None))


def _make_sample(control: Control, place: int) -> str:
    """What somebody types who does not care; later fields get later days and times."""
    day = date.today() + timedelta(days=10 + place)
    if control.kind == "select":
        return next((value for value in control.options.values() if value), "")
    plain = {
        "number": "5",
        "date": day.isoformat(),
        "datetime-local": f"{day}T09:00",
        "time": f"{9 + place:02}:00",
        "email": "somebody@example.org",
        "url": "https://example.org/",
        "password": PASSWORD_TYPED,
        "checkbox": control.value,
    }
    return plain.get(control.kind, "Some words")


class AppUser:
    """Somebody with a browser; with one that knows no JavaScript, if it is a `Client`."""

    def __init__(self, visitor: Visitor, email: str = "") -> None:
        self.visitor, self.email = visitor, email

    @property
    def page(self) -> Page:
        """What is shown."""
        return self.visitor.page

    @property
    def main(self) -> Element:
        """What is shown, without header and sidebar."""
        return next(self.page.root.find("main"), self.page.root)

    @property
    def complaints(self) -> list[str]:
        """What the app says is wrong."""
        marked = (
            one
            for one in self.page.root.walk()
            if one.attributes.get("role") == "alert" or "error" in one.attributes.get("class", "").split()
        )
        said = [one.text for one in marked if one.text]
        return said or ([f"status {self.visitor.status}"] if self.visitor.status >= 400 else [])

    def goto(self, path: str) -> None:
        """Load an address."""
        self.visitor.goto(path)

    def find_link(self, words: Iterable[str], place: Element | None = None) -> str | None:
        """Where the shortest link that says one of the words leads.

        Without a place to look in, those in rows and in the headings of columns are passed over.
        """
        links = list((place or self.page.root).find("a", href=""))
        if place is None:
            passed = [*self.find_rows(), *self.page.root.find("th")]
            inner = {id(one) for part in passed for one in part.walk()}
            links = [one for one in links if id(one) not in inner]
        named = [(one.attributes.get("aria-label") or one.text, one.attributes["href"]) for one in links]
        for word in words:
            fit = [(text, href) for text, href in named if matches(text, (word,))]
            if fit:
                split = urlsplit(urljoin(self.visitor.path, min(fit, key=lambda one: len(one[0]))[1]))
                return split.path + (f"?{split.query}" if split.query else "")
        return None

    def find_buttons(self, words: Iterable[str], place: Element | None = None) -> list[Form]:
        """The forms whose button says one of the words, those of rows last; with `place`, only those in it."""
        within = {id(one) for one in (place or self.page.root).walk()}
        rows = set() if place else {id(one) for row in self.find_rows() for one in row.walk()}
        found = []
        for form in self.page.forms:
            buttons = [
                one for one in form.element.walk() if one.tag == "button" or one.attributes.get("type") == "submit"
            ]
            said = [one.attributes.get("aria-label") or one.attributes.get("value") or one.text for one in buttons]
            if id(form.element) in within and any(matches(text, words) for text in said):
                found.append(form)
        return sorted(found, key=lambda form: id(form.element) in rows)

    def offers(self, *words: str) -> bool:
        """Whether a link or a button says one of the words."""
        return self.find_link(words) is not None or bool(self.find_buttons(words))

    def open(self, *words: str) -> None:
        """Follow the link that says one of the words, from here, else from the first page."""
        link = self.find_link(words)
        if link is None:
            self.goto("/")
            link = self.find_link(words)
        if link is None:
            raise Missed(f"no link says {' or '.join(words)}")
        self.goto(link)

    def find_rows(self, text: str = "") -> list[Element]:
        """What is listed, each with this text in it; of rows in rows the inner one."""
        found = [one for one in self.main.walk() if one.tag in ROW_TAGS or "data-row" in one.attributes]
        found = [one for one in found if text in one.text and not any(True for _ in one.find("th", scope="col"))]
        return [one for one in found if not any(other is not one and other in [*one.walk()] for other in found)]

    def seek_row(self, text: str) -> Element | None:
        """The row with this text, on this page of a list or a later one."""
        while not (rows := self.find_rows(text)):
            link = self.find_link(("next",))
            if link is None:
                return None
            self.goto(link)
        return rows[0]

    def get_row(self, text: str) -> Element:
        """The same. Raises Missed."""
        row = self.seek_row(text)
        if row is None:
            raise Missed(f"{text!r} is not in the list at {self.visitor.path}")
        return row

    def open_list(self, thing: Thing) -> None:
        """By navigation; where nothing leads there, the first page is it."""
        self.goto("/")
        if link := self.find_link(thing.words):
            self.goto(link)

    def lists(self, thing: Thing, text: str) -> bool:
        """Whether the list of a thing has a row with this text."""
        self.open_list(thing)
        return self.seek_row(text) is not None

    def open_row(self, thing: Thing, text: str) -> None:
        """The page of a row, by a link in it."""
        self.open_list(thing)
        row = self.get_row(text)
        link = self.find_link((text.lower(), "open", "show", "view", "details", "read"), row)
        if link is None:
            raise Missed(f"nothing in the row of {text!r} leads to its page")
        self.goto(link)

    def press(self, thing: Thing, text: str, *words: str) -> None:
        """Use what says one of the words beside a row, else on its page."""
        self.open_list(thing)
        if not self.use(words, self.get_row(text)):
            self.open_row(thing, text)
            if not self.use(words):
                raise Missed(f"nothing beside {text!r} says {' or '.join(words)}")

    def use(self, words: Iterable[str], place: Element | None = None) -> bool:
        """Press or follow what says one of the words; False: nothing does."""
        for word in words:
            if buttons := self.find_buttons((word,), place):
                self.visitor.submit(buttons[0], {})
                return True
            if link := self.find_link((word,), place):
                self.goto(link)
                return True
        return False

    def get_form(self) -> Form:
        """The form that this page is about: the one with most fields. Raises Missed."""
        sized = [(len(read_controls(self.page, form)), form) for form in self.page.forms if form.method == "POST"]
        size, form = max(sized, key=lambda one: one[0], default=(0, None))
        if not size or form is None:
            raise Missed(f"there is no form to fill in at {self.visitor.path}")
        return form

    @property
    def can_write(self) -> bool:
        """Whether there is something to fill in, other than to log in."""
        forms = [form for form in self.page.forms if form.method == "POST"]
        kinds = {one.kind for form in forms for one in read_controls(self.page, form)}
        return self.visitor.status < 400 and bool(kinds) and "password" not in kinds

    @property
    def controls(self) -> list[Control]:
        """The fields of that form."""
        return read_controls(self.page, self.get_form())

    def fill_in(self, wanted: Mapping[Wish, str]) -> list[str]:
        """Fill in what is wanted, and whatever else must be; press the button. What the app complains of comes back."""
        form, controls, values = self.get_form(), self.controls, dict[str, str]()
        for wish, value in wanted.items():
            control = choose_control((one for one in controls if one.name not in values), wish)
            if control is None:
                raise Missed(f"there is no field for {wish.words[0]!r} at {self.visitor.path}")
            if control.kind == "select":
                fit = [sent for said, sent in control.options.items() if value.lower() in said.lower()]
                require(fit, f"{value!r} cannot be chosen as {control.label!r}")
                value = fit[0]
            values[control.name] = value
        for place, one in enumerate(controls):
            if one.name not in values and one.is_required and not form.values.get(one.name):
                values[one.name] = _make_sample(one, place)
        self.visitor.submit(form, values)
        require(self.visitor.status < 500, f"the app breaks: status {self.visitor.status}")
        return self.complaints

    def begin_to_add(self, thing: Thing) -> None:
        """From the list to where one is added."""
        self.open_list(thing)
        self.begin_to_add_here()

    def begin_to_add_here(self) -> None:
        """To a form beside the list that is shown, or to a page of its own."""
        forms = [form for form in self.page.forms if form.method == "POST"]
        if any(one.kind not in ("checkbox", "select") for form in forms for one in read_controls(self.page, form)):
            return
        link = self.find_link(ADD, self.main) or self.find_link(ADD)
        if link is None:
            raise Missed(f"nothing at {self.visitor.path} adds one")
        self.goto(link)

    def try_to_add(self, thing: Thing, title: str, more: Mapping[Wish, str] = NOTHING_MORE) -> list[str]:
        """Add one, and before it what must be chosen for it; what the app complains of comes back."""
        self.begin_to_add(thing)
        for control in [one for one in self.controls if one.kind == "select" and one.is_required]:
            if not any(control.options.values()):
                name = control.label.lower()
                self.open(name, name[:-1])  # the list of it has its name in the plural
                self.begin_to_add_here()
                self.fill_in({})
                self.begin_to_add(thing)
        return self.fill_in({thing.title: title, **thing.more, **more})

    def add(self, thing: Thing, title: str, more: Mapping[Wish, str] = NOTHING_MORE) -> None:
        """Add one. Raises Missed where the app refuses."""
        complaints = self.try_to_add(thing, title, more)
        require(not complaints, f"{title!r} was refused: {complaints[:1]}")

    def edit(self, thing: Thing, text: str, wanted: Mapping[Wish, str]) -> list[str]:
        """Change some of a row; what the app complains of comes back."""
        self.press(thing, text, *EDIT)
        return self.fill_in(wanted)

    def delete(self, thing: Thing, text: str) -> None:
        """Delete a row, and say yes where that is asked."""
        self.press(thing, text, *DELETE)
        asked = [form for form in self.find_buttons(CONFIRM) if len(self.find_rows()) == 0]
        if asked and text in self.main.text:
            self.visitor.submit(asked[0], {})

    def search(self, thing: Thing, text: str) -> None:
        """Type into the search field of a list."""
        self.open_list(thing)
        for form in self.page.forms:
            control = choose_control(
                read_controls(self.page, form), Wish(("search", "find", "filter"), ("search", "text"))
            )
            if form.method == "GET" and control:
                self.visitor.submit(form, {control.name: text})
                return
        raise Missed(f"there is nothing to search with at {self.visitor.path}")

    def register(self, email: str) -> list[str]:
        """Make an account."""
        self.email = email
        self.goto("/")
        self.open(*REGISTER)
        return self.fill_in({EMAIL: email, PASSWORD: PASSWORD_TYPED})

    def log_in(self, password: str = PASSWORD_TYPED) -> list[str]:
        """With the own address."""
        self.goto("/")
        self.open(*LOG_IN)
        return self.fill_in({EMAIL: self.email, PASSWORD: password})

    def log_out(self) -> None:
        """Raises Missed where nothing says so."""
        self.goto("/")
        require(self.use(LOG_OUT), "nothing says log out")

    @property
    def is_inside(self) -> bool:
        """Whether they are logged in, as far as one sees."""
        return self.offers(*LOG_OUT)

    def open_tab(self) -> "AppUser":
        """The same person at another tab."""
        if isinstance(self.visitor, BrowserTab):
            return AppUser(self.visitor.open_tab(), self.email)
        assert isinstance(self.visitor, Client)
        other = Client(self.visitor.app)
        other.cookies = self.visitor.cookies
        return AppUser(other, self.email)
