"""What a page of a built app says, read by the marks that docs/design/apps.md promises: rows, forms, errors."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urlsplit

VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
INLINE = {"a", "abbr", "b", "code", "em", "i", "small", "span", "strong", "time"}
UNSHOWN = {"script", "style", "template", "head"}


@dataclass
class Element:
    """One element with what is in it: elements and text, in order."""

    tag: str
    attributes: dict[str, str]
    content: list["Element | str"] = field(default_factory=list)

    def walk(self) -> Iterator["Element"]:
        """This element and all below it, in the order of the document."""
        yield self
        for part in self.content:
            if isinstance(part, Element):
                yield from part.walk()

    def find(self, tag: str = "", **attributes: str) -> Iterator["Element"]:
        """Elements of this tag that have the attributes; `data_row=""` asks for one of any value."""
        wanted = {name.replace("_", "-"): value for name, value in attributes.items()}
        for element in self.walk():
            if tag in ("", element.tag) and all(
                name in element.attributes and value in ("", element.attributes[name]) for name, value in wanted.items()
            ):
                yield element

    @property
    def text(self) -> str:
        """What is read in it, with single spaces."""
        return " ".join("".join(self._pieces()).split())

    def _pieces(self) -> Iterator[str]:
        for part in self.content:
            if isinstance(part, str):
                yield part
            elif part.tag not in UNSHOWN:
                yield from part._pieces() if part.tag in INLINE else (" ", *part._pieces(), " ")


@dataclass(frozen=True)
class Form:
    """A form, with what it would send if nothing were typed."""

    action: str
    """The path it leads to; empty: the page's own."""
    method: str
    values: dict[str, str]
    boxes: frozenset[str]
    """Its checkboxes: sent only where they are checked."""
    options: dict[str, tuple[str, ...]]
    """The values of each select."""
    place: int
    """In the order of the document's forms."""
    element: Element


@dataclass(frozen=True)
class ShownRow:
    """A row of a list."""

    id: str
    values: dict[str, str]
    """What is shown of each field."""
    actions: frozenset[str]
    can_edit: bool
    can_delete: bool


class Page:
    """A page as it was answered, or as it stands in a browser."""

    def __init__(self, root: Element) -> None:
        self.root = root

    @property
    def text(self) -> str:
        """All that is read on it."""
        return self.root.text

    def rows(self, children: str = "") -> dict[str, ShownRow]:
        """The rows of its list by id; with `children`, those of that section."""
        sections = [*self.root.find(data_children="")]
        places = [one for one in sections if one.attributes["data-children"] == children] if children else [self.root]
        inner = set() if children else {id(one) for section in sections for one in section.walk()}
        found = [one for place in places for one in place.find(data_row="") if id(one) not in inner]
        return {one.attributes["data-row"]: _read_row(one) for one in found}

    @property
    def errors(self) -> dict[str, str]:
        """What is said to be wrong, by field; "form" for a rule of several."""
        return {
            one.attributes["id"].removeprefix("error-"): one.text
            for one in self.root.find(id="")
            if one.attributes["id"].startswith("error-") and one.text
        }

    @property
    def forms(self) -> list[Form]:
        """All forms."""
        return [_read_form(one, place) for place, one in enumerate(self.root.find("form"))]

    def find_form(self, action: str = "", **attributes: str) -> Form | None:
        """The first form that posts to this path, or has these attributes (`data_action="take"`)."""
        for form in self.forms:
            is_marked = any(form.element is one for one in form.element.find("form", **attributes))
            if is_marked and form.method == "POST" and action in ("", form.action):
                return form
        return None

    @property
    def links(self) -> tuple[str, ...]:
        """Where its links lead."""
        return tuple(one.attributes.get("href", "") for one in self.root.find("a"))


def read_page(html: str) -> Page:
    """The page of a document, however malformed."""
    reader = _PageReader()
    reader.feed(html)
    reader.close()
    return Page(reader.root)


class _PageReader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("", {})
        self._open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        self._open[-1].content.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        at = next((n for n in range(len(self._open) - 1, 0, -1) if self._open[n].tag == tag), 0)
        if at:
            del self._open[at:]

    def handle_data(self, data: str) -> None:
        self._open[-1].content.append(data)


def _read_row(element: Element) -> ShownRow:
    forms = [*element.find("form")]
    return ShownRow(
        id=element.attributes["data-row"],
        values={one.attributes["data-field"]: one.text for one in element.find(data_field="")},
        actions=frozenset(one.attributes["data-action"] for one in forms if "data-action" in one.attributes),
        can_edit=any(True for _ in element.find(data_edit="")),
        can_delete=any("data-delete" in one.attributes for one in forms),
    )


def _read_form(element: Element, place: int) -> Form:
    values, boxes, options = dict[str, str](), set[str](), dict[str, tuple[str, ...]]()
    for one in element.walk():
        name, kind = one.attributes.get("name", ""), one.attributes.get("type", "text").lower()
        if not name or "disabled" in one.attributes:
            continue
        if one.tag == "input" and kind in ("checkbox", "radio"):
            boxes.add(name)
            if "checked" in one.attributes:
                values[name] = one.attributes.get("value", "on")
        elif one.tag == "input" and kind not in ("submit", "button", "reset", "file", "image"):
            values[name] = one.attributes.get("value", "")
        elif one.tag == "textarea":
            raw = "".join(part for part in one.content if isinstance(part, str))
            values[name] = re.sub(r"^\r?\n", "", raw)
        elif one.tag == "select":
            found = [(item.attributes.get("value", item.text), item) for item in one.find("option")]
            options[name] = tuple(value for value, _ in found)
            chosen = [value for value, item in found if "selected" in item.attributes]
            values[name] = (chosen or list(options[name]) or [""])[0]
    action = urlsplit(element.attributes.get("action", ""))
    return Form(
        action=action.path + (f"?{action.query}" if action.query else ""),
        method=element.attributes.get("method", "get").upper(),
        values=values,
        boxes=frozenset(boxes),
        options=options,
        place=place,
        element=element,
    )
