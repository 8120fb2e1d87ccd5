"""What a sentence asks for beside things and their values: accounts, rights, rules, states, orders.

Each is recognised by its usual words and cut out, so that only things and values are left to be read.
"""

import re

from burnish.apps.drafts import Reserving, State, Wishes
from burnish.apps.vocabulary import find_singular, make_label, say

_GLUED = re.compile(
    r"\b(?:number|date|time|count|limit on the number|name|place|point|anzahl|reason|method|type|kind) (?:of|der|von)"
    r" (?:the |a )?\w+(?: of the \w+)?|\b(?:date|date of \w+) and time\b|\bbest before(?: dates?)?\b|\bfrom \d+"
    r" to \d+\b",
    re.IGNORECASE,
)
_LOGIN = (
    r"(?:,? (?:and|und))? ?(?:with|mit|behind|needs?) (?:an? |einem |einer )?(?:user )?(?:log-?in|login|accounts?"
    r"|sign-?in|password"
    r"|registration|anmeldung|konten|benutzerkonten|passwort|logins)\b|\b(?:logging|log) in\b|\bpassword[-"
    r" ]protected\b"
)
_MEMBERS = (
    r"\b(?:only for|nur für) (?:members|mitglieder|us|employees|staff)\b|\bmembers only\b"
    r"|,? ?\bfor (?:an?|my|our|the) (?:\w+ )?(?:team|crew|staff)\b|,? ?\bfür (?:ein|mein|unser) team\b"
)
_NO_LOGIN = (
    r"\b(?:without|no|ohne) (?:an? |any )?"
    r"(?:log-?in|login|accounts?|registration|sign-?in|password|anmeldung|konto)s?\b"
)
_OWN = (
    r",? ?(?:(?:but|where|and|aber|wo) )?\b(?:everyone|everybody|each \w+|users?|members?|jeder?) (?:can |may"
    r" )?(?:only )?"
    r"(?:sees?|sieht|views?) (?:only |nur )?(?:their|his|her|his or her|the|seine?) ?(?:own|eigenen?)?(?: \w+)?"
    r"|\bprivate(?:ly)?\b|\bprivat\b"
)
_SHARED = (
    r"\bshared\b(?= (?!flat|house))|\bgemeinsam\w*\b|\b(?:everyone|everybody|all members|all of us|members|the"
    r" whole \w+)"
    r" (?:can |may )?(?:sees?|edits?|changes?) (?:all(?: \w+)?|everything|it)\b|(?:that |which )?\bthe whole \w+ can"
    r" (?:edit|use|change)\b"
)
_ALL_READ = (
    r"\bpublic\b|\böffentlich\w*\b"
    r"|(?:that |which )?\b(?:guests|visitors|everyone|everybody|anyone|anybody|customers|readers|all) can (?:read"
    r"|see|view)"
    r"(?: (?:and|but) only (?:the )?\w+ can (?:change|edit|write|add|update))?"
)
_ONLY_ME = r"\bonly i can (?:edit|change|write|add)\b|\bnur ich\b(?: (?:darf|kann) \w+)?"
MEMBERS_ACT = re.compile(
    r"\b(?:members|employees|users|colleagues|workers|people|parents|residents|tenants|staff)\b (?:can |may )?"
    r"(?:offer|hand in|submit|post|add|enter|share|propose|suggest|vote for|report|request|ask for)"
    r" (?P<things>[\w ]+)",
    re.IGNORECASE,
)
_DOUBLE = re.compile(
    r",? ?\b(?:without|no|ohne|keine) (?:any )?(?:double|duplicate|doppelten?) (?P<entity>[\w-]+)"
    r"(?: (?:for|of) (?:the same|an?|one|each|the) (?P<first>[\w-]+))?(?: (?:on|in|per|at) the same"
    r" (?P<second>[\w-]+))?"
    r"|,? ?\b(?:where )?(?:no|nobody|never|not)\b (?P<who>[\w ]*?)(?: ?\b(?:can|may|must|is|are)(?: be)?"
    r" (?P<verb>\w+))?"
    r" ?(?:the same (?P<same>\w+) )?\btwice(?: (?:at|for|on|in) the same (?P<when>\w+))?"
    r"|,? ?\b(?:where |so that )?(?P<rows>\w+)(?: of the same (?P<per>\w+))? (?:must|may|can|do|should) not overlap"
    r"|,? ?\bwithout overlaps?(?:ping \w+)?(?: (?:for|of) (?:an?|the|each) (?P<for>\w+))?",
    re.IGNORECASE,
)
_SCARCE = (
    r"(?:,? ?(?:and|with) )?(?:an? |the )?(?:\blist of )?(?:what(?:'s| is) |that are )?\b(?:running (?:out|low"
    r"|short)|run(?:s)? (?:out|low|short)"
    r"|low[- ]\w+(?: (?:list|warning|alert|items|view)s?)?(?: (?:is|are) \w+)?|below (?:the |a |its )?minimum"
    r"|scarce|re-?order(?: \w+)?|knapp\w*)\b"
)
_STATES = re.compile(
    r",? ?(?:\b(?:where|that|and|with|which) )?(?:(?:each|every|an?|the|all|members|i|we|one|people)"
    r" )?(?P<thing>[\w-]+ )?\b"
    r"(?:can|may|to) (?:be )?(?:mark(?:ed)?|set|flag(?:ged)?|tick(?:ed)?)(?: (?P<object>\w+))? as (?P<state>\w+)"
    r"|,? ?(?:\b(?:where|and|with|which) )?(?:an? )?\b(?P<button>done|finished|completed) (?:button|mark|flag|box"
    r"|tick|state)s?"
    r"|(?:\b(?:which|that|and|where|they|you|i|we) )*(?:can (?:be )?|to )?\b(?:tick|check|cross)(?:ed)? (?:\w+"
    r" )?off\b|\babhaken\b"
    r"|,? ?(?:\b(?:where|and) )?\w+ (?:can|may) (?P<verb>close|approve|finish|confirm|cancel|archive|return"
    r"|complete|solve|reject)"
    r" (?:an? |the |them\b)?(?P<what>\w*)"
    r"|(?:\band )?\b\w+ (?P<does>approve|confirm|close)s? (?:them|it)\b"
    r"|(?:\bwhere )?\b\w+ check (?P<out>\w+) (?:out and in|in and out|out)\b",
    re.IGNORECASE,
)
_TODAY = r",? ?(?:that |which )?shows? which \w+ (?:need|are due|have to)[\w ]* today"
_DUE = (
    r",? ?(?:\b(?:and|that shows|where|with) )?(?:which ones are |which \w+ are |an? |the )?(?:list of"
    r" )?(?:overdue|late\b(?= list)|überfällige?)"
    r"(?: \w+)*"
)
_EXPIRES = (
    r",? ?(?:that |which |and )?(?:shows? )?what (?:expires|has expired|is expired)(?: soon)?|\bexpired (?:ones"
    r"|list)\b"
)
_SORT = re.compile(
    r",? ?(?:\b(?:and|und|which|that|can be|both|in a list) )*(?:sorted|ordered|sort|sortiert|geordnet)(?: \w+)?"
    r" (?:by|nach) (?P<sort>\w+(?: date)?)"
    r"|,? ?\b(?P<newest>newest|latest|most recent|neueste) first\b",
    re.IGNORECASE,
)
_SEARCH = (
    r",? ?(?:\b(?:and|und|with|mit) )?(?:an? )?\b(?:searchable|search(?: by \w+)?(?: function| box)?|suche"
    r"|durchsuchbar|filters?(?: by \w+)?"
    r"|to search|filter nach \w+)\b"
)
_WORKED_OUT = re.compile(
    r",? ?(?:and |that |which |where it )?(?:works out|calculates?|computes?|shows (?=how much)|berechnet)"
    r" (?P<what>[^,;]+)"
    r"|,? ?(?:\band |with )?(?:an? |the )?(?P<total>total|sum)(?=$|,| and)",
    re.IGNORECASE,
)
UNBUILDABLE = {
    "sending e-mails": r"\be-?mails? (?:\w+ )?(?:quotes|reminders|customers|invoices|people|notification)"
    r"|\bnewsletters?\b|\bsends? e?-?mails?",
    "PDF files": r"\bpdfs?\b",
    "charts": r"\b(?:with |and )?(?:an? )?(?:charts?|graphs?|plots?|diagramm?e?)\b",
    "uploads of files and pictures": r"\b(?:and |with )?(?:uploads?|photos? upload|images|pictures|attachments"
    r"|avatars?)\b",
    "maps": r"\b(?:on |with |and )?(?:an? )?maps?\b|\bgps\b",
    "barcodes and scanners": r"\b(?:with )?(?:barcodes?|qr codes?)(?: and an? scanner)?\b",
    "data from other sites": r"\b(?:with )?live (?:prices|data|quotes|rates)\b",
    "notifications": r"\b(?:with )?(?:push )?(?:notifications|notify \w+|text messages|sms)\b",
    "totals over many rows": r"\b(?:and |with )?(?:monthly|weekly|daily|yearly) (?:totals?|sums?|averages?"
    r"|reports?|summar\w+)|\bstatistics\b",
    "streaks": r"\b(?:and |with )?(?:an? )?streaks?(?: for \w+ \w+)?",
    "exports and imports": r"\b(?:csv|excel) (?:export|import)\b|\bexport to \w+\b",
}
"""What is asked for beside tables and pages, and left out of an app that is otherwise built."""


def read_wishes(text: str, german: bool = False) -> tuple[str, Wishes, tuple[str, ...]]:
    """A sentence without its wishes, the wishes, and what it asks for that cannot be built."""
    found: dict[str, object] = {}
    rest = _GLUED.sub(lambda match: match[0].replace(" ", "~"), text)

    def cut(pattern: str | re.Pattern[str], keep: str = " ") -> re.Match[str] | None:
        nonlocal rest
        match = re.search(re.compile(pattern, re.IGNORECASE) if isinstance(pattern, str) else pattern, rest)
        if match:
            rest = rest[: match.start()] + keep + rest[match.end() :]
        return match

    left_out = tuple(name for name, pattern in UNBUILDABLE.items() if cut(pattern))
    without = cut(_NO_LOGIN)
    reserving = cut(_DOUBLE)
    if reserving:
        found["reserving"] = _read_reserving(reserving)
    rights = next((name for name, pattern in _RIGHTS if (right := cut(pattern))), "")
    if (
        rights == "read_by_all"
        and right
        and re.search(r"only (?:the )?(?!members|users)\w+ can", right[0], re.IGNORECASE)
    ):
        rights = "only_me"
    has_login = bool(cut(_LOGIN))
    is_team = bool(cut(_MEMBERS))
    acting = MEMBERS_ACT.search(rest)
    if not rights and (acting or (is_team and not has_login)):  # who asks for a login has rows of their own in mind
        rights = "shown" if acting else "shared"
    has_members = re.search(r"\b(?:members|employees|colleagues) can\b", text, re.IGNORECASE)
    if not rights and has_members:
        rights = "shared"
    needs_accounts = has_login or is_team or has_members or rights in ("own", "only_me", "read_by_all") or acting
    found["accounts"] = False if without else True if needs_accounts else None
    found["rights"] = "" if without else rights
    states: list[State] = []
    while state := cut(_STATES):
        said = state.groupdict()
        verb = (said["verb"] or said["does"] or "").lower()
        participle = verb and (verb + "d" if verb.endswith("e") else verb + "ed")
        if said["out"]:
            said["what"], participle = said["out"], say("out", german)
        label = said["state"] or participle or say("done", german)
        thing = said["what"] or said["object"] or said["thing"] or ""
        states.append(State(label=make_label(label), entity=make_label(find_singular(thing, german))))
    found["states"] = tuple(states)
    found["due"] = tuple(name for name, pattern in _LATE if cut(pattern))
    found["is_scarce"] = bool(cut(_SCARCE))
    if order := cut(_SORT):
        found["sort"], found["descending"] = (order["sort"] or "created"), bool(order["newest"])
    cut(_SEARCH)
    if computed := cut(_WORKED_OUT):
        found["computed"] = (computed["what"] or computed["total"],)
    return " ".join(rest.split()).strip(" ,;"), Wishes.model_validate(found), left_out


_LATE = (("today", _TODAY), ("overdue", _DUE), ("expired", _EXPIRES))
_RIGHTS = (("own", _OWN), ("shared", _SHARED), ("only_me", _ONLY_ME), ("read_by_all", _ALL_READ))


def _read_reserving(match: re.Match[str]) -> Reserving:
    """What may not be there twice: "no Y twice in the same Z", "without double X", "X of one Y must not overlap"."""
    said = {name: (value or "").strip().lower() for name, value in match.groupdict().items()}
    said["same"] = "" if said["same"] in ("thing", "one", "item", "object") else said["same"]
    by_day = "day" in (said["second"], said["when"])
    place = said["second"] or said["when"]
    place = "" if place in ("day", "time", "moment", "hour", "tag") else place
    if place or (said["first"] and by_day):
        things = tuple(filter(None, (said["first"] or said["who"], place)))
        return Reserving(entity=said["entity"], together=things, by_day=by_day)
    return Reserving(
        entity=find_singular(said["entity"] or said["rows"]),
        per=find_singular(said["per"] or said["same"] or said["for"] or said["first"] or said["who"]),
        by_day=by_day,
    )
