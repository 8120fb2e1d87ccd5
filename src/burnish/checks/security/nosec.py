"""`# nosec` at a line: the user has looked at it. Bandit's own comment counts for our rules too, in the user's code."""

import io
import re
import tokenize
from collections.abc import Iterable, Iterator

from burnish.checks.finding import Finding
from burnish.checks.security.rules import Rule

_MARK = re.compile(r"#\s*nosec:?\s*(?P<only>[\w, -]*)")


def unmarked(findings: Iterable[Finding], text: str, rules: tuple[Rule, ...]) -> Iterator[Finding]:
    """The findings at lines without the mark. One that lists tests (`# nosec B602`) speaks for those alone."""
    also = {rule.name: {rule.name, *rule.also} for rule in rules}
    marks = dict(_marks(text))
    for finding in findings:
        only = marks.get(finding.line)
        if only is None or (only and not only & also[finding.rule]):
            yield finding


def _marks(text: str) -> Iterator[tuple[int, set[str]]]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        found = _MARK.search(token.string) if token.type == tokenize.COMMENT else None
        if found:
            yield token.start[0], set(re.findall(r"B\d+|no-[a-z-]+", found["only"]))
