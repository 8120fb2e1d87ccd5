"""Passwords and keys that are written into the code: by the name they are given, and by their shape."""

import ast
import math
import re
from collections import Counter
from collections.abc import Iterator

from burnish.checks.security.names import Names, list_defaults

# Every repetition that something must follow has an end, so a text made for it cannot make the search take long.
SHAPES = {
    "an access key of AWS": r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    "a token of GitHub": r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{40,})",
    "a token of GitLab": r"\bglpat-[A-Za-z0-9_-]{20,}",
    "a key of a model service": r"\bsk-[A-Za-z0-9_-]{20,}",
    "a key of a payment service": r"\b[sr]k_live_[A-Za-z0-9]{16,}",
    "a token of Slack": r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}",
    "a key of Google": r"\bAIza[0-9A-Za-z_-]{35}\b",
    "a token of Hugging Face": r"\bhf_[A-Za-z]{34}\b",
    "a token of a package index": r"\b(?:pypi-AgE[A-Za-z0-9_-]{40,}|npm_[A-Za-z0-9]{36})",
    "a signed token": r"\beyJ[A-Za-z0-9_-]{10,999}\.eyJ[A-Za-z0-9_-]{10,999}\.[A-Za-z0-9_-]{10}",
    "a private key": r"-----BEGIN (?:[A-Z]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----",
    "a password in an address": r"\b[a-z][a-z0-9+.-]{1,30}://[^/\s:@{}<>$%]{1,99}:[^/\s:@{}<>$%*]{3,99}@\w",
}
_PASSWORD = re.compile(r"(?:^|_)(?:password|passwd|pwd|passphrase|secret|client_secret|credentials?)$")
_KEY = re.compile(r"(?:^|_)(?:token|(?:api|access|private|auth|secret|encryption|signing|master)_?key|apikey)$")
_HINT = re.compile(r"key|token|secret|passw|auth|credential|salt")
_CODED = re.compile(r"[A-Za-z0-9+/=_-]+")
_PLACEHOLDER = re.compile(
    r"change.?me|your|example|placeholder|dummy|fake|redacted|insert|replace|todo|fixme|secret_?here|not.?set"
    r"|^[<{\[(%$]|[>}\])]$|^\W+$|^(?:x+|_+|0+|none|null|undefined|unknown|empty|test)$",
    re.IGNORECASE,
)
_EXAMPLE = re.compile(r"example|:(?:pass(?:word|wd)?|pw|pwd|secret|x+)@", re.IGNORECASE)
"""What a key or an address in documentation has in it."""
HIGH_ENTROPY_BITS, HIGH_ENTROPY_LENGTH = 3.5, 20


def find_secret(node: ast.AST, names: Names) -> str:
    """A password, token or key stands in the code. Its text is never repeated in the sentence."""
    for name, value in _list_named(node, names):
        text = _read_text(value, names) if not isinstance(value, ast.Name) else ""
        if text and _looks_secret(name, text):
            return f"{name!r} is given a value that looks like a secret; it belongs in the environment."
    text = _read_text(node, names) if isinstance(node, ast.Constant | ast.BinOp) else ""
    for what, shape in SHAPES.items() if text else ():
        found = re.search(shape, text)
        if found and not _EXAMPLE.search(found[0]):
            return f"A text has the shape of {what}; secrets belong in the environment."
    return ""


def _list_named(node: ast.AST, names: Names) -> Iterator[tuple[str, ast.expr]]:
    """Names with what they are given, compared with, or stand for in a dictionary."""
    match node:
        case ast.Assign(targets=targets, value=value):
            yield from ((_read_name(target, names), value) for target in targets)
        case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value):
            yield _read_name(target, names), value
        case ast.keyword(arg=str(name), value=value):
            yield name, value
        case ast.Dict(keys=keys, values=values):
            yield from ((_read_text(key, names), value) for key, value in zip(keys, values, strict=True))
        case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq()], comparators=[right]):
            yield _read_name(left, names), right
            yield _read_name(right, names), left
        case ast.FunctionDef(args=arguments) | ast.AsyncFunctionDef(args=arguments) | ast.Lambda(args=arguments):
            yield from list_defaults(arguments)


def _read_name(node: ast.expr, names: Names) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Subscript(slice=key):
            return _read_text(key, names)
    return ""


def _read_text(node: ast.AST | None, names: Names) -> str:
    value = names.constant(node)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, str) else ""


def _looks_secret(name: str, text: str) -> bool:
    plain = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().replace("-", "_").strip("_").rstrip("0123456789_")
    names_itself = text.lower().strip("_- ") in (plain, plain.replace("_", ""))
    if names_itself or _PLACEHOLDER.search(text) or len(text.split()) > 2:
        return False
    if _PASSWORD.search(plain):
        return len(text) >= 4
    # Not just a word: it has a digit, or both cases inside.
    is_mixed = any(char.isdigit() for char in text) or (text[1:] != text[1:].lower() and text != text.upper())
    if _KEY.search(plain):
        return len(text) >= 8 and is_mixed
    if not is_mixed or len(text) < HIGH_ENTROPY_LENGTH or not _HINT.search(plain) or not _CODED.fullmatch(text):
        return False
    shares = [count / len(text) for count in Counter(text).values()]
    return -sum(share * math.log2(share) for share in shares) >= HIGH_ENTROPY_BITS
