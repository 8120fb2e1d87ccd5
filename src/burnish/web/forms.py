"""What people fill in, read and checked: anything else than a form of ours may send is refused with a sentence."""

from collections.abc import Mapping

from pydantic import ValidationError
from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request

from burnish.agent.limits import Limits
from burnish.errors import SetupProblem
from burnish.events import PROVEN

MOST_FIELDS, MOST_FILES, MOST_FIELD_BYTES = 100, 20, 1 << 20
MINUTES = {"1": 60.0, "3": 180.0, "10": 600.0, "30": 1800.0}
"""What a person may allow a run, and how many seconds that is."""
SURE = {"usual": PROVEN, "quick": 0.8}


async def read_form(request: Request) -> FormData:
    """The fields of a form. Raises SetupProblem for more than any form of ours has."""
    try:
        return await request.form(max_files=MOST_FILES, max_fields=MOST_FIELDS, max_part_size=MOST_FIELD_BYTES)
    except Exception as error:
        if type(error).__name__ in ("MultiPartException", "HTTPException"):
            raise SetupProblem("This form cannot be read: a text in it is too long, or it is broken.") from error
        raise


def read_text(form: Mapping[str, object], name: str, most: int = 20_000) -> str:
    """One field as text; empty where it is not there."""
    value = form.get(name, "")
    text = value if isinstance(value, str) else ""
    if len(text) > most:
        raise SetupProblem(f"That is longer than {most} characters. Say it shorter.")
    return text.replace("\r\n", "\n").strip()


def read_number(form: Mapping[str, object], name: str) -> int | None:
    """A whole number that is not below nought; None where there is none."""
    text = read_text(form, name)
    return int(text) if text.isdecimal() and len(text) < 10 else None


def read_limits(form: Mapping[str, object]) -> Limits:
    """How long, and how much money, as a person chose them."""
    seconds = MINUTES.get(read_text(form, "minutes"), MINUTES["3"])
    money = read_text(form, "dollars").replace(",", ".")
    try:
        return Limits(seconds=seconds, dollars=float(money) if money else None)
    except (ValueError, ValidationError) as error:
        raise SetupProblem(f"{money!r} is no amount of money. Type a number, such as 0.50") from error


async def read_uploads(form: FormData, most: int, *names: str) -> list[tuple[str, bytes] | None]:
    """Name and content of each uploaded file; None where none was chosen. No other is read after this."""
    found = list[tuple[str, bytes] | None]()
    try:
        for name in names:
            value, data = form.get(name), b""
            if isinstance(value, UploadFile) and len(data := await value.read(most + 1)) > most:
                raise SetupProblem(f"{value.filename!r} is larger than {most >> 20} MB. Choose a smaller file.")
            found.append((value.filename, data) if isinstance(value, UploadFile) and value.filename else None)
    finally:
        await form.close()
    return found
