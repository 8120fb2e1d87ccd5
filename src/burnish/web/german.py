"""German: the sentences of the pages, and those that runs and checks have composed.

`german.toml` has what pages say themselves. `german_composed.toml` has sentences that come with values in them: in a
key `{n}` stands for a number, `{said}` for a sentence that is translated too, any other name for what a model, a user
or a file has said, which stays as it is; (s) and (es) may be missing.
"""

import re
import tomllib
from collections.abc import Mapping
from functools import cache, lru_cache
from html import escape, unescape
from importlib.resources import files
from typing import NamedTuple

MOST_KEPT = 4096
LONGEST = 600
"""Characters: no sentence of ours is longer, and what others say could be made to take long to look through."""
SINGULARS = {
    **{"Zeilen": "Zeile", "Zweige": "Zweig", "Tests": "Test", "Dateien": "Datei", "Funktionen": "Funktion"},
    **{"Funde": "Fund", "Pakete": "Paket", "Orte": "Ort", "Eingaben": "Eingabe", "Fassungen": "Fassung"},
    **{"Aufgaben": "Aufgabe", "Versuche": "Versuch", "Fragen": "Frage", "Runden": "Runde", "Änderungen": "Änderung"},
}
"""What is said of one."""
_FREE = re.compile(r"\{(?!(?:n|said)[_}])")
_ONE = re.compile(r"\b1 (\w+)")
_PART = re.compile(r"<(style|script|pre|code|\w+(?= translate=))\b.*?</\1>|<[^>]*>|[^<]+", re.DOTALL)
"""Of a page whose texts are all escaped: what is not to be translated, a tag, a text."""
_SPOKEN = re.compile(r'\b(title|placeholder|aria-label)="([^"]*)"')
NUMBER = r"-?[0-9](?:[0-9., ]*[0-9])?"


class Composed(NamedTuple):
    """A sentence that holds values."""

    literal: str
    """The longest part of it that is always there, in small letters: it is quickly looked for."""
    english: re.Pattern[str]
    german: str


@cache
def read_german() -> Mapping[str, str]:
    """English sentences and what they are in German."""
    return dict(tomllib.loads((files("burnish.web") / "german.toml").read_text("utf-8")))


@cache
def read_composed() -> Mapping[str, str]:
    """The same for sentences that hold values."""
    return dict(tomllib.loads((files("burnish.web") / "german_composed.toml").read_text("utf-8")))


@cache
def _compile_composed() -> tuple[Composed, ...]:
    compiled = []
    for english, german in sorted(read_composed().items(), key=lambda entry: bool(_FREE.match(entry[0]))):
        literal = max(split_literals(english), key=len).lower().strip(" .")
        named = re.sub(
            r"\\{(\w+)\\}",
            lambda name: f"(?P<{name[1]}>{NUMBER if name[1].split('_')[0] == 'n' else '.+?'})",
            re.escape(english.removesuffix(".")),
        )
        expression = re.sub(r"\\\((e?s)\\\)", r"(?:\1)?", named) + r"(?P<end_of_it>\.?)"
        german = german.removesuffix(".") if english.endswith(".") else german
        compiled.append(Composed(literal, re.compile(expression, re.IGNORECASE | re.DOTALL), german))
    return tuple(compiled)


def split_literals(english: str) -> list[str]:
    """The parts of a key that are always there."""
    return re.split(r"\{\w+\}|\(e?s\)", english)


def tell_page(page: str, language: str) -> str:
    """A whole page that a command has made, such as a report; code and what was printed stay as they are."""
    return _PART.sub(_tell_part, page.replace('<html lang="en">', '<html lang="de">')) if language == "de" else page


def _tell_part(part: re.Match[str]) -> str:
    found, is_left_alone = part[0], part[1] is not None
    if is_left_alone or found.isspace():
        return found
    if found.startswith("<"):
        return _SPOKEN.sub(lambda one: f'{one[1]}="{_tell_escaped(one[2])}"', found)
    return found.replace(found.strip(), _tell_escaped(found))


def _tell_escaped(text: str) -> str:
    return escape(tell(" ".join(unescape(text).split()), "de"))


def tell(text: str, language: str) -> str:
    """What a run or a check has said, in the reader's language; as it is where that is not known."""
    return (_translate(text) if language == "de" and len(text) <= LONGEST else None) or text


@lru_cache(MOST_KEPT)
def _translate(text: str) -> str | None:
    if known := read_german().get(text):
        return known
    lowered = text.lower()
    for one in _compile_composed():
        if one.literal not in lowered or not (match := one.english.fullmatch(text)):
            continue
        values = match.groupdict()
        end = values.pop("end_of_it")
        told = {name: _translate(said) if name.startswith("said") else said for name, said in values.items()}
        if None not in told.values():
            german = _ONE.sub(lambda one: f"1 {SINGULARS.get(one[1], one[1])}", one.german.format(**told))
            german += "" if german.endswith(".") else end
            return german[:1].upper() + german[1:] if text[:1].isupper() else german
    return None
