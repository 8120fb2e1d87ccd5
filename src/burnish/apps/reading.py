"""A sentence read by rules alone: its wishes are recognised and cut out first, then what is left is a head and lists.

"a book list with title and author, sorted by title, with login": login and order are wishes; "book list" is the head,
whose word for a collection goes; the list holds a value for each word, or a thing of its own for an unknown plural.
"""

import re

from burnish.apps.blueprint import MOMENTS, Blueprint, Entity
from burnish.apps.drafts import Draft, EntityDraft, FieldDraft, Wishes
from burnish.apps.vocabulary import (
    GROUPS,
    HOLDERS,
    MONEY,
    TABLES,
    find_plural,
    find_singular,
    is_german,
    is_person,
    is_plural,
    know,
    make_label,
    say,
)
from burnish.apps.wishes import GRAMMAR, find_acted_on, read_wishes

_RESERVING: dict[str, str] = TABLES["claims"]
_INTRO, _DETERMINER, _PRONOUN, _GETS = (GRAMMAR[name] for name in ("intro", "determiner", "pronoun", "gets"))
_SPLIT = re.compile(
    r"\s*(?<![~\w])(,|;|:|\.(?=\s|$)|(?:and|und|with|mit|where|wo|that|which|who|for|für|by|of|von|nach|in|without|ohne)"
    r"(?![~\w]))\s*|(?<=\w)\s*([,;:])\s*",
    re.IGNORECASE,
)
_SIDE_WORDS = {"for", "für", "of", "von", "in", "without", "ohne"}
_CLAUSE_WORDS = {"where", "wo", "that", "which", "who"}
_LIST_WORDS = {"with", "mit", ":", ",", "and", "und", ";"}


def read_sentence(sentence: str) -> Draft:
    """What rules understand of a sentence: always some things with values, whatever it says."""
    text = " ".join(sentence.replace("’", "'").split()).strip(" .!?\"'")
    german = is_german(text)
    rest, wishes, left_out = read_wishes(text, german)
    entities, title = _Structure(german, wishes).read(rest)
    named = next((state.entity for state in wishes.states if state.entity and not is_person(state.entity)), "")
    if entities[0].is_general and named and not _PRONOUN.fullmatch(named):
        plural = find_plural(named, german)
        entities = (
            entities[0].model_copy(update={"label": named, "plural": plural, "is_general": False}),
            *entities[1:],
        )
    asked = wishes.reserving
    if asked and asked.entity and not asked.together and all(one.label.lower() != asked.entity for one in entities):
        main = entities[0]
        claim = FieldDraft(label=main.label, target=main.label, required=True)
        entities = (EntityDraft(label=make_label(asked.entity), fields=(claim,)), *entities)
    main = entities[0]
    has_more = any(not field.target for field in main.fields) or any(one.parent == main.label for one in entities)
    has_more |= bool(wishes.is_scarce or wishes.due or wishes.reserving or wishes.states)
    if main.is_ticked_off and (has_more or is_person(main.label)):
        entities = (main.model_copy(update={"is_ticked_off": False}), *entities[1:])
    return Draft(
        title=make_label(title) or say("items", german),
        german=german,
        entities=entities,
        wishes=wishes,
        left_out=left_out,
    )


def read_addition(sentence: str, blueprint: Blueprint) -> Draft:
    """What a follow-up adds: its first entity is the one of the blueprint that it speaks of, with new values only."""
    text = " ".join(sentence.replace("’", "'").split()).strip(" .!?\"'")
    german = is_german(text) or is_german(blueprint.sentence)
    rest, wishes, left_out = read_wishes(text, german)

    def find_place(one: Entity) -> int:
        places = [
            match.start()
            for words in (one.plural, one.label)
            if (match := re.search(rf"\b{re.escape(words)}\b", text, re.IGNORECASE))
        ]
        return min(places, default=len(text))

    about = min(blueprint.entities, key=find_place)
    structure = _Structure(german, wishes)
    structure.entities = [EntityDraft(label=about.label)]
    structure.has_head = True
    if gets := _GETS.search(rest):
        structure.read_rest(structure.split(f"with {gets['list']}"), [])
        structure.connect()
    if wishes.sort.lower() in ("it", "them", "that", "this", "danach") and structure.entities[0].fields:
        wishes = wishes.model_copy(update={"sort": structure.entities[0].fields[-1].label})
    known = {one.label.lower() for one in blueprint.entities} - {about.label.lower()}
    entities = tuple(one for one in structure.entities if one.label.lower() not in known)
    return Draft(title=blueprint.title, german=german, entities=entities, wishes=wishes, left_out=left_out)


class _Structure:
    """Reads the head of a sentence and its lists; what is found is gathered on the way."""

    def __init__(self, german: bool, wishes: Wishes) -> None:
        self.german, self.wishes = german, wishes
        self.entities: list[EntityDraft] = []
        self.has_head = self.is_short = self.is_tracked = False
        """Whether the first entity is the head's; whether a list is a thing and one value; "track my …"."""

    def read(self, text: str) -> tuple[tuple[EntityDraft, ...], str]:
        """The things, and a title. Where nothing is found, there are items with a name."""
        text = re.sub(r"^(an? \w+) and (\w+ (?:board|list|app|office))\b", r"\1~and~\2", text.strip(" ,"))
        self.is_tracked = bool(re.match(r"(?:track|keep track of|log|record)\b", text, re.IGNORECASE))
        while shorter := _INTRO.match(text):
            text = text[shorter.end() :]
        chunks = self.split(text)
        title = head = chunks[0][1]
        listed = [self.clean(words) for separator, words in chunks[1:] if separator in _LIST_WORDS]
        listed = [item for item in listed if item]
        rest = chunks[1:]
        of = self.clean(rest[0][1]) if rest and rest[0][0] in ("of", "von") else ""
        if of and self.is_collection(head) and (len(head.split()) == 1 or is_plural(of, self.german)):
            title = f"{head} {rest[0][0]} {rest[0][1]}"
            self.name_head(of, "list" if re.match(r"(?:check)?liste?$", head.split()[-1].lower()) else "app", head)
            self.has_head, rest = True, rest[1:]
        else:
            self.read_head(head, listed)
        self.read_rest(rest, listed)
        if not self.entities:
            self.add_general("item")
        self.connect()
        return tuple(map(self.drop_assumed_date, self.entities)), title.replace("~", " ") or self.entities[0].label

    def read_rest(self, chunks: list[tuple[str, str]], listed: list[str]) -> None:
        """What stands behind the head, by the word before it."""
        mode = "list"
        plain = self.is_spread_out(listed)
        # "ingredients and cooking time": the value is the head's; "exercises, sets and weight": it is not.
        self.is_short = len(listed) == 2 and self.is_thing(listed[0]) and not self.is_thing(listed[1])
        for separator, words in chunks:
            if separator in ("with", "mit", ":"):
                mode = "list"
            elif separator in ("by", "nach"):
                mode = "by"
            elif separator in _SIDE_WORDS:
                mode = "side"
            elif separator in _CLAUSE_WORDS:
                mode = "clause"
            phrase = self.clean(words)
            if not phrase:
                continue
            if mode == "by":
                label = make_label(find_singular(phrase, self.german))
                self.add_field(FieldDraft(label=label, target=label))
            elif mode == "list" or re.match(r"(?:whether|is it|when)\b", phrase):
                self.read_item(phrase, plain)
            elif mode == "side":
                self.read_side(phrase, separator)
            else:
                self.read_clause(phrase)

    def drop_assumed_date(self, one: EntityDraft) -> EntityDraft:
        """Without the day that a plan has by itself, where the sentence names another time."""
        assumed = [field for field in one.fields if field.type == "date" and field.required is False]
        kinds = [know(field.label, self.german) for field in one.fields if field not in assumed]
        if self.wishes.reserving or any(kind and (kind.type in MOMENTS or len(kind.options) == 7) for kind in kinds):
            return one.model_copy(update={"fields": tuple(field for field in one.fields if field not in assumed)})
        return one

    def split(self, text: str) -> list[tuple[str, str]]:
        """The text in pieces, each with the word that stands before it."""
        parts = _SPLIT.split(text)
        pieces = [("", parts[0])]
        pieces += [
            ((a or b or "").lower(), words) for a, b, words in zip(parts[1::3], parts[2::3], parts[3::3], strict=True)
        ]
        # ", with X" is one step, not two.
        return [
            (separator, words.strip()) for separator, words in pieces if words.strip() or separator in ("with", ":")
        ]

    def clean(self, phrase: str) -> str:
        """A phrase without articles and counting words."""
        before = ""
        while before != phrase:
            before, phrase = phrase, _DETERMINER.sub("", phrase.strip())
        return phrase

    def is_collection(self, head: str) -> bool:
        words = head.split()
        return bool(words) and len(words) <= 2 and bool(self.find_kind(words[-1], 0))

    def is_spread_out(self, items: list[str]) -> bool:
        """Whether plurals in a list are values of each row: "donors and amounts"."""
        return any(
            (known := know(item, self.german)) is not None
            and known.type in ("decimal", "date", "time")
            and is_plural(item, self.german)
            and not item.endswith(("hours", "~", "km"))
            for item in items
        )

    def is_thing(self, item: str) -> bool:
        """Whether an item of a list is a plural that names things of their own."""
        last = item.lower().split()[-1]
        known = know(item, self.german)
        is_value = known is not None and (known.type != "text" or last in ("tags", "keywords"))
        is_group = self.is_group(last) and (self.has_head or bool(self.entities))
        return not is_value and is_plural(last, self.german) and not is_group

    def is_group(self, phrase: str) -> bool:
        return find_singular(phrase.lower(), self.german).split()[-1] in GROUPS

    # --- the head

    def read_head(self, head: str, items: list[str]) -> None:
        """What the app is about, from its first words: "parking space sharing app", "weight diary"."""
        if things := find_acted_on(head):
            self.add_entity(things)
            self.has_head = True
            return
        words = head.split()
        kind = ""
        while words and (found := self.find_kind(words[-1], len(words))):
            kind = kind or found
            words.pop()
        listed = [item for at, item in enumerate(items) if self.is_thing(item) and not (at and self.is_group(item))]
        if self.german and not kind and words and (split := self.split_compound(words[-1])):
            words[-1:], kind = filter(None, [split[0]]), split[1]
        noun = " ".join(words)
        asked = self.wishes.reserving
        claim_word = asked.entity if asked else ""
        if self.german and claim_word and len(words) == 1 and words[0].lower().endswith(claim_word):
            words = [words[0][: -len(claim_word)], claim_word]
        last = find_singular(words[-1].lower(), self.german) if words else ""
        claims = last in _RESERVING or (claim_word and last == claim_word)
        if claims and len(words) > 1 and not (asked and asked.together):
            self.add_reserving(" ".join(words[:-1]), last)
            return
        if asked and asked.per and len(words) == 1 and last.endswith("ing"):
            thing = make_label(asked.per)
            claim = FieldDraft(label=thing, target=thing, required=True)
            self.entities.append(EntityDraft(label=make_label(last), fields=(claim,), claims=True))
            self.has_head = True
            return
        if re.search(r"(?<!spr|str)ing$", last) and last not in ("building", "ring", "thing"):
            noun = " ".join(words[:-1])
        spread_out = self.is_spread_out(items)
        if not spread_out and (len(listed) >= 2 or (listed and not kind)):
            return  # the head names the app, and its list the things
        self.has_head = True
        if kind == "app" and self.is_tracked:
            kind = "log"
        self.name_head(noun, "log" if self.is_tracked else kind, head)

    def name_head(self, noun: str, kind: str, head: str) -> None:
        """The main entity by its noun, or as entries or items where there is none of its own."""
        if not noun or "~" in noun or (not kind and not is_plural(noun, self.german)):
            self.add_general("entry" if kind in ("log", "plan") else "item", kind, head)
            return
        german, fields = self.german, list[FieldDraft]()
        word = find_singular(noun, german)
        label, last = make_label(word), word.split()[-1].lower()
        known = know(noun, german)
        is_value = known is not None and known.type in ("integer", "decimal", "choice") and not is_person(noun)
        if kind == "log" and last not in MONEY:
            label = make_label(f"{noun}eintrag" if german else f"{word} entry")
        if kind == "log" or last in MONEY:
            fields.append(FieldDraft(label=say("date", german), type="date", default="today"))
        elif kind == "plan":
            fields.append(FieldDraft(label=say("date", german), type="date", required=False))
        if last in MONEY or (self.is_tracked and not is_value):
            fields.append(FieldDraft(label=say("amount", german), type="decimal"))
        elif is_value:
            fields.append(FieldDraft(label=make_label(last)))
        one = EntityDraft(label=label, plural=find_plural(label, german), fields=tuple(fields))
        self.entities.append(one.model_copy(update={"is_ticked_off": kind == "list" and "list" in head.lower()}))

    def add_general(self, word: str, kind: str = "", head: str = "") -> None:
        """Rows for which the sentence has no word."""
        fields: list[FieldDraft] = []
        if word == "entry":
            text = FieldDraft(label=say("text", self.german), type="long_text")
            fields = [FieldDraft(label=say("title", self.german), type="text"), text]
            if kind == "log":
                fields.append(FieldDraft(label=say("date", self.german), type="date", default="today"))
        many = {"entry": "entries", "item": "items"}[word]
        one = EntityDraft(
            label=say(word, self.german), plural=say(many, self.german), fields=tuple(fields), is_general=True
        )
        self.entities.append(one.model_copy(update={"is_ticked_off": kind == "list" and "list" in head.lower()}))

    def find_kind(self, word: str, place: int) -> str:
        """Whether a word says what holds the things: a list, a log, a plan or an app."""
        low = word.lower()
        if place == 1 and low in ("book", "table", "record", "box"):
            return ""
        return "log" if low.endswith(("log", "protokoll")) else HOLDERS.get(find_singular(low), HOLDERS.get(low, ""))

    def split_compound(self, word: str) -> tuple[str, str] | None:
        """A German compound as its first part and the kind that its last part names."""
        low = word.lower()
        ending = max((one for one in HOLDERS if low.endswith(one) and len(one) > 3 and one != low), key=len, default="")
        first = word[: -len(ending)].rstrip("-") if ending else ""
        return (re.sub(r"(?<=ung|eit|ion)s$", "", first), HOLDERS[ending]) if first else None

    def add_reserving(self, thing: str, word: str) -> None:
        """What is claimed for a time, and the claims."""
        label = make_label(_RESERVING.get(word, find_singular(word)))
        thing = make_label(find_singular(thing, self.german))
        claim = EntityDraft(
            label=label,
            plural=find_plural(label, self.german),
            fields=(FieldDraft(label=thing, target=thing, required=True),),
            claims=True,
        )
        self.entities += [claim, EntityDraft(label=thing, plural=find_plural(thing, self.german))]
        self.has_head = True

    # --- lists

    def add_entity(self, phrase: str, ticked: bool = False) -> None:
        label = make_label(find_singular(phrase, self.german))
        phrase = find_plural(label, True) if self.german else phrase
        if all(one.label.lower() != label.lower() for one in self.entities):
            self.entities.append(EntityDraft(label=label, plural=make_label(phrase), is_ticked_off=ticked))

    def add_field(self, field: FieldDraft, entity: str = "") -> None:
        """Puts a value on an entity: the one named, else the one that the list has come to."""
        if not self.entities:
            self.add_general("item")
        place = next((at for at, one in enumerate(self.entities) if one.label == entity), self.find_cursor())
        one = self.entities[place]
        same = next((old for old in one.fields if old.label.lower() == field.label.lower()), None)
        if not same:
            self.entities[place] = one.model_copy(update={"fields": (*one.fields, field)})
        elif field.maximum is not None:
            fields = tuple(field if old is same else old for old in one.fields)
            self.entities[place] = one.model_copy(update={"fields": fields})

    def find_cursor(self) -> int:
        """The entity that a list has come to: the last one; of claims, always they."""
        is_claim = self.has_head and bool(self.entities[0].fields) and bool(self.entities[0].fields[0].target)
        if (is_claim and len(self.entities) == 2) or (self.has_head and self.is_short):
            return 0
        last = len(self.entities) - 1
        return 0 if self.has_head and is_person(self.entities[last].label) else last

    def read_item(self, phrase: str, spread_out: bool) -> None:
        """One member of a list: a value, a group, or things of their own."""
        low = phrase.lower()
        if clause := re.match(r"(?:whether|if|ob)\b(?: or not)?(.*)", low):
            said = re.sub(r"^.*?\b(?:have|has|had|is|are|was|were|been|habe|hat|ist)\b", "", clause[1]) or clause[1]
            self.add_field(
                FieldDraft(label=make_label(re.sub(r"\b(?:it|already|been|them)\b", "", said)), type="yes_no")
            )
        elif re.match(r"(?:who|what|how|why|was|wer|wie)\b", low):
            return
        elif state := re.match(r"(?:is it |are they )?(.+?)(?: or not|\s*\?)$|is it (.+)$", low):
            self.add_field(FieldDraft(label=make_label(state[1] or state[2]), type="yes_no"))
        elif start := re.match(r"(?:when|wann)\b(.*)", low):
            said = start[1].split()[-1] if start[1].split() else ""
            self.add_field(FieldDraft(label=make_label(said) or say("date", self.german), type="date"))
        elif scale := re.match(r"(.+?)[~ ]from[~ ](\d+)[~ ]to[~ ](\d+)", low):
            least, most = sorted((float(scale[2]), float(scale[3])))
            label = make_label(find_singular(scale[1], self.german))
            self.add_field(FieldDraft(label=label, type="integer", minimum=least, maximum=most))
        elif self.is_group(low) and self.entities:
            label = make_label(find_singular(phrase, self.german))
            self.add_field(FieldDraft(label=label, target=label))
        elif self.is_thing(phrase) and not spread_out:
            self.add_entity(phrase)
        else:
            label = make_label(find_singular(phrase, self.german) if spread_out else phrase)
            target = next((one.label for one in self.entities if one.label.lower() == label.lower()), "")
            cursor = self.entities[self.find_cursor()].label if self.entities else ""
            self.add_field(FieldDraft(label=label, target=target if target != cursor else ""))

    def read_side(self, phrase: str, separator: str) -> None:
        """What stands behind "for": things in the plural that are no people sort the main ones."""
        is_one_thing = self.is_thing(phrase) and len(phrase.split()) == 1 and not is_person(phrase)
        if separator in ("for", "für") and self.entities and is_one_thing:
            label = make_label(find_singular(phrase, self.german))
            self.add_field(FieldDraft(label=label, target=label))

    def read_clause(self, phrase: str) -> None:
        """What people do with things: "members offer rides"."""
        things = find_acted_on(phrase)
        has_own = self.has_head and find_singular(things).lower() in self.entities[0].label.lower()
        if things and self.is_thing(things) and not has_own and (not self.has_head or not self.entities[0].fields):
            del self.entities[:1]
            self.add_entity(things)

    def connect(self) -> None:
        """Relations that a list leaves open: the last belongs to those before it, people and groups to nothing."""
        start = 0 if not self.has_head else 1
        listed = [at for at in range(start, len(self.entities)) if not self.is_target(self.entities[at].label)]
        if self.has_head:
            for at in listed:
                self.link(at, 0)
            return
        for place, at in enumerate(listed[1:], 1):
            is_last = place == len(listed) - 1
            if not is_last and is_person(self.entities[at].label):
                continue
            if is_last:
                linked = {field.target for i in listed[:place] for field in self.entities[i].fields if field.target}
                before = [i for i in listed[:place] if self.entities[i].label not in linked]
            else:
                before = [listed[place - 1]]
            for i in before:
                self.link(at, i)

    def is_target(self, label: str) -> bool:
        return any(field.target == label for one in self.entities for field in one.fields)

    def link(self, child: int, parent: int) -> None:
        """Makes one entity refer to another, and be shown on its page where that is the first."""
        one, above = self.entities[child], self.entities[parent]
        if is_person(one.label) and self.has_head:
            self.add_field(FieldDraft(label=one.label, target=one.label, required=False), above.label)
            return
        fields = (FieldDraft(label=above.label, target=above.label, required=True), *one.fields)
        self.entities[child] = one.model_copy(update={"fields": fields, "parent": one.parent or above.label})
