"""General words of two languages: what kind of value a word names, and how nouns become names and labels.

Its one rule: only words that say something in any app. What an app is about is in no table.
"""

import re
import tomllib
import unicodedata
from collections.abc import Collection
from importlib.resources import files
from typing import Any

from burnish.apps.blueprint import TAKEN, FieldType
from burnish.events import Frozen
from burnish.text import one_line


class Knowledge(Frozen):
    """What a word says about the value that it names."""

    type: FieldType
    options: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None


TABLES: dict[str, Any] = tomllib.loads((files("burnish.apps") / "words.toml").read_text("utf-8"))
_KINDS: dict[FieldType, str] = TABLES["values"]
_VALUES = {word: kind for kind, words in _KINDS.items() for word in words.split()}
HOLDERS: dict[str, str] = {word: kind for kind, words in TABLES["kinds"].items() for word in words.split()}
"""Words that hold things: a list, a log, a plan or an app."""
_CHOICES, _SCALES, _IRREGULAR = TABLES["choices"], TABLES["scales"], TABLES["irregular"]
PEOPLE, GROUPS, EVENTS, MONEY, WRITINGS, STATEMENTS, PLURALS_ONLY, ACCOUNT_WORDS, OWN_COLUMNS = (
    frozenset(TABLES["nouns"][name].split())
    for name in (
        "people",
        "groups",
        "events",
        "money",
        "writings",
        "statements",
        "plurals_only",
        "accounts",
        "own_columns",
    )
)
"""Who; what things are sorted into; what happens on a day; moves an amount on a day; is a text with a title; is a text;
what an app with accounts has by itself; columns that every table has."""
_GERMAN_STATUS = ("offen", "in Arbeit", "erledigt")
_GERMAN_STEMS = re.compile(r"(?:at|ion|ung|heit|keit|schaft|ur|or|ept|ent|ist|ant|ekt|atz|ar)en$")
_GERMAN = re.compile(
    r"\b(?:eine?[nrms]?|mit|und|für|ohne|von|der|die|das|ich|nach|oder|bekommen|zum|zur)\b", re.IGNORECASE
)
_ENGLISH = re.compile(r"\b(?:an?|the|with|and|for|my|of|that|by|get|or)\b", re.IGNORECASE)


def is_german(text: str) -> bool:
    """Whether a text is more German than English, by its small words."""
    return len(_GERMAN.findall(text)) > len(_ENGLISH.findall(text))


def say(word: str, german: bool, *values: str) -> str:
    """A word or label of our own in the language of the sentence."""
    text: str = TABLES["said"][word][german]
    return text.format(*values)


def fold(text: str) -> str:
    """Lower case without accents; umlauts as two letters."""
    for letter, pair in (("ä", "ae"), ("ö", "oe"), ("ü", "ue"), ("ß", "ss")):
        text = text.lower().replace(letter, pair)
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()


def make_name(label: str, kind: str = "value", used: Collection[str] = ()) -> str:
    """An identifier for a label: not taken, and not among those in use. `kind` is put behind a name that is taken."""
    words = re.findall(r"[a-z0-9]+", fold(label))
    name = re.sub(r"^[^a-z]+", "", "_".join(words))[:32].strip("_") or kind
    if name in TAKEN:
        name = f"{name}_{kind}"
    place, free = 2, name
    while free in used:
        free, place = f"{name}_{place}", place + 1
    return free


def make_label(phrase: str) -> str:
    """A phrase as it stands above a column: its first letter large, and short."""
    words = one_line(re.sub(r"[<>{}~]", " ", phrase), 60).strip(" .,;:-_")
    return words[:1].upper() + words[1:]


def find_singular(phrase: str, german: bool = False) -> str:
    """The phrase with its last word in the singular."""
    *before, word = phrase.split() or [""]
    low = word.lower()
    if german:
        if _GERMAN_STEMS.search(low):
            word = word[:-2]
        elif (low.endswith(("en", "ern", "eln")) and len(low) > 4) or re.search(r"[aeiouy]s$", low):
            word = word[:-1]
    elif low in _IRREGULAR:
        word = _IRREGULAR[low]
    elif low in PLURALS_ONLY or not re.search(r"[^sui]s$", low) or len(low) < 4:
        pass
    elif low.endswith("ies"):
        word = word[:-3] + "y"
    elif re.search(r"(?:ss|x|ch|sh|zz|o)es$", low):
        word = word[:-2]
    else:
        word = word[:-1]
    return " ".join([*before, word])


def find_plural(phrase: str, german: bool = False) -> str:
    """The phrase with its last word in the plural, as most nouns form it."""
    *before, word = phrase.split() or [""]
    low = word.lower()
    ending = "s"
    irregular = {one: many for many, one in _IRREGULAR.items()}
    if low in PLURALS_ONLY:
        ending = ""
    elif german:
        if low.endswith("eintrag"):
            word, ending = word[:-4] + "träge", ""
        elif re.search(r"(?:ung|heit|keit|schaft|ion|tät|at)$", low):
            ending = "en"
        else:
            ending = "n" if low.endswith("e") else "" if low.endswith(("er", "en", "el")) else "e"
    elif low in irregular:
        word, ending = irregular[low], ""
    elif re.search(r"[^aeiou]y$", low):
        word, ending = word[:-1], "ies"
    elif re.search(r"(?:s|x|ch|sh|z)$", low):
        ending = "es"
    return " ".join([*before, word + ending])


def is_plural(phrase: str, german: bool = False) -> bool:
    """Whether its last word stands for several."""
    return find_singular(phrase, german) != phrase


def is_person(phrase: str) -> bool:
    """Whether it names people."""
    words = find_singular(phrase.lower()).split()
    return bool(words) and words[-1] in PEOPLE


def know(phrase: str, german: bool = False) -> Knowledge | None:
    """What is known of the value that a phrase names; None where its words say nothing."""
    low = phrase.lower().replace("~", " ").strip()
    words = low.split()
    if not words:
        return None
    if re.match(r"(?:number of|count of|anzahl|zahl der|how many|limit on)\b", low):
        return Knowledge(type="integer", minimum=0)
    if re.match(r"(?:date of|day of|when|until|since)\b", low) or re.search(r"\b(?:date|dates|before|until)$", low):
        return Knowledge(type="date")
    if re.search(r"ing time$|ungszeit$|spielzeit$|kochzeit$|fahrzeit$", low):
        return Knowledge(type="integer", minimum=0)  # minutes that something takes
    if low == "time of day":
        return Knowledge(type="time")
    if words[-1] == "left" and len(words) > 1:
        return Knowledge(type="integer", minimum=0)
    for key in dict.fromkeys((low, words[-1], find_singular(words[-1], german), find_singular(words[-1]), words[0])):
        if key == words[0] and len(words) > 1 and words[1] not in ("of", "in", "per", "paid", "from"):
            continue
        if (found := _look_up(key, german)) is not None:
            return found
    if german and len(words[-1]) > 6:  # the last part of a compound decides
        endings = [key for key in (*_VALUES, *_CHOICES) if len(key) > 3 and words[-1].endswith(key)]
        ending = max(endings, key=len, default="")
        return _look_up(ending, german) if ending else None
    return None


def _look_up(word: str, german: bool) -> Knowledge | None:
    if word == "note" and not german:
        return Knowledge(type="long_text")
    if word in _SCALES:
        least, most = _SCALES[word]
        return Knowledge(type="integer", minimum=least, maximum=most)
    if word == "status" and german:
        return Knowledge(type="choice", options=_GERMAN_STATUS)
    if word in _CHOICES:
        return Knowledge(type="choice", options=tuple(_CHOICES[word]))
    kind = _VALUES.get(word)
    return Knowledge(type=kind, minimum=0 if kind == "integer" else None) if kind else None
