"""Which language a sentence asks for: another one than Python is said before any model is loaded, and never guessed."""

from pathlib import Path

import pytest

import burnish
from burnish.tasks import Task, from_sentence
from burnish.tasks.sentence import find_other_language, refuse_other_language
from tests.support import refused

OTHERS = {
    "a JavaScript function that reverses a string": "JavaScript",
    "write a function in Rust that adds two numbers": "Rust",
    "a bash script that lists large files": "Bash",
    "a TypeScript function debounce(fn, ms)": "TypeScript",
    "a Go program that prints primes": "Go",
    "implement quicksort in C++": "C++",
    "a C function that reverses a string in place": "C",
    "a Java class Stack with push and pop": "Java",
    "write me an SQL query that finds duplicates": "SQL",
    "a shell script to rename files": "Bash",
    "a Ruby method that titleizes a string": "Ruby",
    "a function in PHP that validates an email address": "PHP",
    "Kotlin function to flatten a list": "Kotlin",
    "a Swift function that formats currency": "Swift",
    "a Haskell function for the Fibonacci numbers": "Haskell",
    "an R function that computes the variance": "R",
    "function add(a, b) in javascript": "JavaScript",
    "a React component that shows a clock": "JavaScript",
    "a Perl script which counts lines": "Perl",
    "a C# method that parses a date": "C#",
    "please write a golang function that sorts a slice": "Go",
    "reverse a linked list, in Java": "Java",
    "Rust function parse_hex(s) for colours": "Rust",
    "a PowerShell script that deletes old logs": "PowerShell",
    "a Lua function that clamps a number": "Lua",
    "a node.js function that reads a file": "JavaScript",
    "an HTML page with a login form": "HTML",
    "an efficient JavaScript function that finds primes": "JavaScript",
    "a function written in TypeScript that groups by a key": "TypeScript",
    "In Go, write a function that joins two maps": "Go",
    "Create a small Rust program called wc.": "Rust",
    "I need a C++ class Matrix with a determinant": "C++",
    "eine Funktion in C++, die zwei Zahlen addiert": "C++",
    "eine JavaScript-Funktion, die einen Text umdreht": "JavaScript",
    "Schreibe eine Rust-Funktion, die Primzahlen findet": "Rust",
    "ein Bash-Skript, das große Dateien auflistet": "Bash",
    "eine Java-Klasse Stapel mit push und pop": "Java",
    "eine in Go geschriebene Funktion, die Karten mischt": "Go",
    "eine SQL-Abfrage, die doppelte Zeilen findet": "SQL",
    "ein Shellskript, das Dateien umbenennt": "Bash",
    "eine TypeScript Funktion, die Zahlen formatiert": "TypeScript",
    "schreib mir bitte eine PHP-Funktion, die Adressen prüft": "PHP",
    "can you write me a function in JS that trims a text": "JavaScript",
    "could you please write a javascript function to reverse a string?": "JavaScript",
    "a node script that counts lines": "JavaScript",
    "ein kleines Node-Skript, das die Zeilen einer Datei zählt": "JavaScript",
    "mach mir ein JS-Skript, das Zahlen addiert": "JavaScript",
    "a function add(a, b) in TS": "TypeScript",
    "I'd like a function in TypeScript": "TypeScript",
    "TypeScript: group a list by a key": "TypeScript",
    "JavaScript, please: a function add(a, b)": "JavaScript",
    "write this in JavaScript: a function that pads strings": "JavaScript",
    "schreib mir das auf JavaScript: eine Funktion, die addiert": "JavaScript",
    "eine Funktion auf JavaScript, die Zahlen addiert": "JavaScript",
    "Ich hätte gern eine Funktion in JavaScript, die Zahlen addiert": "JavaScript",
    "a function that adds two numbers. Use JavaScript.": "JavaScript",
    "a function that adds two numbers (in TypeScript)": "TypeScript",
    "a function that adds two numbers (JavaScript)": "JavaScript",
    "reverse a string with javascript": "JavaScript",
    "add two numbers in js, please": "JavaScript",
    "zwei Zahlen addieren auf JavaScript": "JavaScript",
    "write javascript code that adds two numbers": "JavaScript",
    "js function that adds two numbers": "JavaScript",
    "a Vue component for a clock": "JavaScript",
    "an npm package that pads strings": "JavaScript",
    "a Go package that reads a file": "Go",
    "two numbers added. In Rust, please.": "Rust",
}
PYTHON = """
a function that parses JavaScript
a JSON to Go struct converter in Python
count Java files
go through the list and return the largest
a function that returns the notes of the C major scale
validate swift codes (BIC)
compute R squared of two lists
average ruby prices per month
a function that checks whether a string is valid JavaScript
a Python function that minifies JavaScript
a Python script that runs a bash script
a function that escapes a string for a bash script
a function that converts a Java class name to snake_case
a Java class name validator
a function that counts the functions in a JavaScript file
find all Rust functions in a text
a function that extracts the table names from an SQL query
an SQL query builder
a function that removes comments in C++ source code
a function ext(language), e.g. ext("rust") == "rs"
a function that counts lines of code in Java files
a function go(n) that returns n
a class Java that holds a cup of coffee
a function c(n) that returns n
a function that converts C to F, e.g. f(0) == 32
a function area(r) for a circle, r is the radius
tell whether it is safe to go in
a function that detects rust in a list of defects
a swift function that sums a list quickly
count how often the word Java occurs in a text
a function that translates a JavaScript Date string to ISO
a function that builds an SQL query from a dict
a function that highlights JavaScript and TypeScript keywords
a function like Array.map in JavaScript
write a function that behaves like parseInt in JavaScript
a function that says what a let statement means in Rust
a Python port of the C function strtol
a function that validates a Go module path
a function that compiles a list of C words
the vitamin C content of a basket of fruits
a function grade(points) that gives A, B, C or F
a function that picks plan B or plan C
a function that transposes a melody in C
a function that converts a temperature in C to one in F
a function that gives the R value of a wall
a function that formats numbers C-style, e.g. fmt(1) == "0x1"
a function similar to the C function atoi
a function that returns a JavaScript function as a string
a function that counts the lines of a bash script
a parser for a Java class
run a bash script and return what it prints
a function in C minor, that is, one that shifts notes
a go function for a board: is the move legal?
an HTML page title extractor
an HTML escape function
a React component name checker
eine Funktion, die JavaScript einliest
eine Funktion, die Java-Dateien zählt
eine Funktion, die die Tonleiter in C zurückgibt
eine Funktion, die aus einem Dict eine SQL-Abfrage baut
eine Python-Funktion, die ein Bash-Skript ausführt
eine Funktion, die Rost (Rust) in Texten zählt
eine Funktion, die prüft, ob ein Text gültiges TypeScript ist
eine Funktion in der Art von parseInt in JavaScript
a class Node for a linked list
a node class with a value and a next node
a Node function depth(node) for a tree
a function that counts the nodes of a tree, e.g. a node with two leaves has 3
count the comments in JavaScript
find all variables in js
list the keywords in TypeScript
escape the strings in JavaScript
a function that names the language of a file (JavaScript for js)
a function that tells what runs in a browser, such as JavaScript
a Java package name validator
an npm package name checker
a function that returns a greeting. Use HTML.
HTML: escape a text
a function that shifts notes. In C.
code that counts words
a function that says which grade is best: A, B or C
a function that reads package.json and returns its name
a function ts(text) that gives a time stamp
the average of a list, in TSV
a react time calculator
what is the default of parseInt in JavaScript
""".strip().splitlines()


@pytest.mark.parametrize(("sentence", "language"), OTHERS.items())
def test_a_request_for_another_language_is_recognised(sentence: str, language: str) -> None:
    assert find_other_language(sentence) == language


@pytest.mark.parametrize("sentence", PYTHON)
def test_a_language_that_is_only_spoken_of_is_not_asked_for(sentence: str) -> None:
    assert find_other_language(sentence) == ""
    assert from_sentence(sentence).language == "python"


def test_a_sentence_for_another_language_is_refused_with_a_line_to_type() -> None:
    with refused(name="tasks/another language"):
        refuse_other_language("a JavaScript function that reverses a string")
    with pytest.raises(burnish.SetupProblem):
        burnish.write("eine Funktion in C++, die zwei Zahlen addiert", "no:model")
    assert from_sentence("a JavaScript function").language == "python"  # old evidence is read with the same words


def test_tasks_of_earlier_records_are_in_python() -> None:
    assert Task.model_validate({"id": "x", "prompt": "y"}).language == "python"


@pytest.mark.parametrize(("name", "language"), [("foo.js", "JavaScript"), ("foo.TS", "TypeScript"), ("foo.rs", "Rust")])
def test_a_file_in_another_language_is_not_repaired(name: str, language: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("let x = 1")
    with pytest.raises(burnish.SetupProblem, match=rf"{language}.*burnish fix FILE\.py$"):
        burnish.fix(tmp_path / name, "scripted:demo")
