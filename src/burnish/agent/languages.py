"""What an answer is written in when it is no Python."""

import re

_TAGS = {
    "js": "JavaScript",
    "javascript": "JavaScript",
    "jsx": "JavaScript",
    "node": "JavaScript",
    "ts": "TypeScript",
    "typescript": "TypeScript",
    "java": "Java",
    "kotlin": "Kotlin",
    "c": "C",
    "cpp": "C++",
    "c++": "C++",
    "csharp": "C#",
    "c#": "C#",
    "cs": "C#",
    "go": "Go",
    "golang": "Go",
    "rust": "Rust",
    "rs": "Rust",
    "ruby": "Ruby",
    "rb": "Ruby",
    "php": "PHP",
    "swift": "Swift",
    "scala": "Scala",
    "haskell": "Haskell",
    "sql": "SQL",
    "r": "R",
    "julia": "Julia",
    "lua": "Lua",
    "perl": "Perl",
    "html": "HTML",
}
_SIGNS = (
    ("PHP", r"<\?php|^\s*function\s+\w+\(\s*\$"),
    ("TypeScript", r"^\s*(?:export\s+)?function\s+\w+\([^)]*:\s*(?:string|number|boolean|any)\b"),
    ("JavaScript", r"^\s*(?:export\s+|async\s+)*function\s*\w*\s*\([^)]*\)\s*\{|^\s*(?:const|let|var)\s+\w+\s*="),
    ("C++", r"^\s*#include\s*<\w+>|\bstd::"),
    ("C", r"^\s*#include\s*[<\"]\w+\.h"),
    ("C#", r"^\s*using\s+System\b|\bnamespace\s+\w+\s*\{"),
    ("Java", r"^\s*(?:public|private|protected)\s+(?:static\s+|final\s+)*[\w<>\[\]]+\s+\w+.*\{|System\.out\.print"),
    ("Go", r"^\s*func\s+(?:\([^)]*\)\s*)?\w+\(|^package\s+\w+"),
    ("Rust", r"^\s*(?:pub\s+)?fn\s+\w+\s*(?:<[^>]*>)?\("),
    ("Swift", r"^\s*func\s+\w+\([^)]*:\s*\w+[^)]*\)\s*->"),
    ("HTML", r"^\s*<(?:!DOCTYPE html|html|head|body)\b"),
    ("Ruby", r"^\s*def\s+\w+(?:\([^)]*\))?\s*$(?:.|\n)*^\s*end\s*$"),
)


def language_of(text: str, tags: list[str]) -> str:
    """The language, by the name on a block or by words that only it has; empty when it may be Python."""
    named = next((_TAGS[tag] for tag in tags if tag in _TAGS), "")
    if named:
        return named
    return next((name for name, sign in _SIGNS if re.search(sign, text, re.MULTILINE)), "")
