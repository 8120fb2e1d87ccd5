"""Passwords and keys that are written into the code: by the name they are given, and by their shape."""

import ast
import math
import re
from collections import Counter
from collections.abc import Iterator

from burnish.checks.security.names import Names

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
_SHAPES = {what: re.compile(shape) for what, shape in SHAPES.items()}
_PASSWORD = re.compile(r"(?:^|_)(?:password|passwd|pwd|passphrase|secret|client_secret|credentials?)$")
_KEY = re.compile(r"(?:^|_)(?:token|(?:api|access|private|auth|secret|encryption|signing|master)_?key|apikey)$")
_HINT = re.compile(r"key|token|secret|passw|auth|credential|salt")
_PLACEHOLDER = re.compile(
    r"change.?me|your|example|placeholder|dummy|fake|redacted|insert|replace|todo|fixme|secret_?here|not.?set"
    r"|^[<{\[(%$]|[>}\])]$|^\W+$|^(?:x+|_+|0+|none|null|undefined|unknown|empty|test)$",
    re.IGNORECASE,
)
_EXAMPLE = re.compile(r"example|:(?:pass(?:word|wd)?|pw|pwd|secret|x+)@", re.IGNORECASE)
"""What a key or an address in documentation has in it."""
HIGH_ENTROPY_BITS, HIGH_ENTROPY_LENGTH = 3.5, 20


def hard_coded_secret(node: ast.AST, names: Names) -> str:
    """A password, token or key stands in the code. Its text is never repeated in the sentence."""
    for name, value in _named(node, names):
        text = _text(names.constant(value)) if not isinstance(value, ast.Name) else ""
        if text and _looks_secret(name, text):
            return f"{name!r} is given a value that looks like a secret; it belongs in the environment."
    if isinstance(node, ast.Constant | ast.BinOp):
        return _shape(_text(names.constant(node)))
    return ""


def _shape(text: str) -> str:
    for what, shape in _SHAPES.items():
        found = shape.search(text)
        if found and not _EXAMPLE.search(found[0]):
            return f"A text has the shape of {what}; secrets belong in the environment."
    return ""


def _named(node: ast.AST, names: Names) -> Iterator[tuple[str, ast.expr]]:
    """Names with what they are given, compared with, or stand for in a dictionary."""
    if isinstance(node, ast.Assign):
        yield from ((_name(target, names), node.value) for target in node.targets)
    elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
        yield _name(node.target, names), node.value
    elif isinstance(node, ast.keyword) and node.arg:
        yield node.arg, node.value
    elif isinstance(node, ast.Dict):
        keys = ((key, value) for key, value in zip(node.keys, node.values, strict=True) if key is not None)
        yield from ((_text(names.constant(key)), value) for key, value in keys)
    elif isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq | ast.NotEq):
        yield _name(node.left, names), node.comparators[0]
        yield _name(node.comparators[0], names), node.left
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        named = [*node.args.posonlyargs, *node.args.args]
        yield from ((p.arg, d) for p, d in zip(reversed(named), reversed(node.args.defaults), strict=False))
        only = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        yield from ((p.arg, d) for p, d in only if d is not None)


def _name(node: ast.expr, names: Names) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    return _text(names.constant(node.slice)) if isinstance(node, ast.Subscript) else ""


def _looks_secret(name: str, text: str) -> bool:
    plain = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().replace("-", "_").strip("_").rstrip("0123456789_")
    names_itself = text.lower().strip("_- ") in (plain, plain.replace("_", ""))
    if names_itself or _PLACEHOLDER.search(text) or len(text.split()) > 2:
        return False
    if _PASSWORD.search(plain):
        return len(text) >= 4
    if _KEY.search(plain):
        return len(text) >= 8 and _is_mixed(text)
    return bool(_HINT.search(plain)) and _is_random(text)


def _is_mixed(text: str) -> bool:
    """Not just a word: has a digit, or both cases inside."""
    return any(char.isdigit() for char in text) or (text[1:] != text[1:].lower() and text != text.upper())


def _is_random(text: str) -> bool:
    if len(text) < HIGH_ENTROPY_LENGTH or not re.fullmatch(r"[A-Za-z0-9+/=_-]+", text) or not _is_mixed(text):
        return False
    shares = [count / len(text) for count in Counter(text).values()]
    return -sum(share * math.log2(share) for share in shares) >= HIGH_ENTROPY_BITS


def _text(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, str) else ""
