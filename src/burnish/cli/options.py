"""Options that several commands share: one name, one bound and one help text for each."""

from typing import Annotated

import typer

Packages = Annotated[
    list[str] | None,
    typer.Option("--with", metavar="NAME,...", help="Packages, besides those that the project requires."),
]
AllowPackage = Annotated[
    list[str] | None, typer.Option(metavar="NAME", help="A package that is not well known, and may be had.")
]
Sandbox = Annotated[str, typer.Option(help="Where code runs: auto, bubblewrap, docker, process.")]

ModelName = Annotated[str, typer.Option(help="Who answers; see `burnish models`. Also small,large; auto chooses.")]
Rounds = Annotated[int, typer.Option(min=0, help="Times to go back to the code after the first draft.")]
Calls = Annotated[int, typer.Option(min=0, help="Questions to the model at most.")]
Tokens = Annotated[int, typer.Option(min=0, help="Tokens read and written at most.")]
Seconds = Annotated[float, typer.Option(min=0, help="Wall time at most.")]
Dollars = Annotated[float | None, typer.Option(min=0, help="Money for the model at most.")]
MaxTokens = Annotated[
    int | None, typer.Option(min=1, help="Tokens of one answer with code at most. [default: set by each prompt]")
]
Thinking = Annotated[
    int | None,
    typer.Option(min=0, help="Tokens for thoughts before an answer; 0: none. [default: from `burnish config`]"),
]

SureEnough = Annotated[
    float,
    typer.Option("--confidence", min=0.01, max=1, help="Ask for more versions until one is so sure to be right."),
]
NoAsk = Annotated[
    bool,
    typer.Option("--no-ask", help="Be asked nothing where versions disagree; `burnish answer` takes it up later."),
]
Fast = Annotated[bool, typer.Option("--fast", help="Leave out the slow checks: mutation, performance.")]
Strict = Annotated[bool, typer.Option("--strict", help="Exit with 1 unless the result is proven.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Show the model's words as they come.")]
KeepThoughts = Annotated[
    bool, typer.Option("--keep-thoughts", help="Keep what the model thinks, for `burnish show RUN --thoughts`.")
]
Events = Annotated[bool, typer.Option("--events", help="Print events as JSON lines.")]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print the outcome as JSON; the rest goes to stderr, and nothing is asked.")
]
