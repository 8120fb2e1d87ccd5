"""Who answered in a run, why they did, and what it cost, for people. Derived from the record."""

from collections.abc import Sequence

from burnish.events import Decided, FunctionWritten, RunSettings, RunStarted, Stopped
from burnish.events.history import Account, Run
from burnish.models.names import split_names
from burnish.models.tokens import EMBEDDED, is_free
from burnish.redact import model_name
from burnish.text import one_line, plural

NOBODY = "none"
"""In a run's record: no model was to be asked."""
UNKNOWN = "no price known"


def read_choice(started: RunStarted) -> str:
    """The sentence on record that says why these models; empty where the user had named them."""
    return one_line(RunSettings.merge(started.settings).chosen, 600).rstrip(".")


def explain_who_answered(run: Run) -> list[str]:
    """Sentences beyond one name: why it was that model, and when and why a larger one was asked."""
    why, names = read_choice(run.started), split_names(run.started.model)
    sentences = [f"The choice was left to Burnish: {why}."] if why else []
    for level in range(1, len(names)):
        asked = next((event for event in run.all(Decided) if any(move.model >= level for move in event.moves)), None)
        if asked:
            first = min(move.round for move in asked.moves if move.model >= level)
            sentences.append(f"{names[level]} was asked from round {first} on. {one_line(asked.reason, 300)}")
        else:
            ended = "not needed" if run.verdict in ("proven", "plausible") else "not reached"
            sentences.append(f"{names[level]} was to help where {names[level - 1]} was stuck, and was {ended}.")
    return sentences


def describe_cost(run: Run) -> str:
    """One sentence: calls, tokens, speed, time, money."""
    if run.started.model == NOBODY:
        return f"no model was asked; {run.seconds:.1f} s in all"
    names = ",".join(map(model_name, split_names(run.started.model)))
    writing = sum(account.seconds for account in run.accounts)
    speed = f", {run.tokens_out / writing:.0f} tokens/s an answer" if writing else ""
    lost, tokens = (sum(getattr(one, name) for one in run.accounts) for name in ("lost", "tokens_lost"))
    were = "was" if lost == 1 else "were"
    booked = f"; {plural(lost, 'answer')} {were} lost on the way, booked at {tokens:,} tokens" if lost else ""
    said = f"{plural(run.calls, 'call')} to {names}; {_count_tokens(run.accounts)}{speed}{booked}"
    each = {_money_of(account) for account in run.accounts}
    known = sum(account.dollars or 0.0 for account in run.accounts)
    if UNKNOWN in each:
        money = UNKNOWN + (f" for a part of it; {known:.4f} dollars for the rest" if known else "")
    elif known:
        money = f"{known:.4f} dollars"
    elif not each:
        money = "no money: nobody answered"
    else:
        inside = all(name.startswith(EMBEDDED) for account in run.accounts for name in split_names(account.model))
        money = "no money: the model ran on this machine" if inside else "no money: the server asks for none"
    functions = run.all(FunctionWritten)
    if calls := sum(one.calls for one in functions):
        said += f"; its functions took {plural(calls, 'call')} and {sum(one.tokens for one in functions):,} tokens more"
    return f"{said}; {run.seconds:.1f} s in all; {money}"


def describe_cost_by_model(run: Run) -> list[str]:
    """A line a model, where more than one answered: answers, tokens, time, money."""
    lines = [
        f"{model_name(one.model)}: {plural(one.asks, 'answer')}; {_count_tokens([one])}; {one.seconds:.1f} s; "
        f"{_money_of(one)}"
        for one in run.accounts
    ]
    return lines if len(lines) > 1 else []


def render_cost_table(run: Run) -> str:
    """The accounts as a Markdown table; empty where nobody answered."""
    rows = []
    for one in run.accounts:
        name = one_line(model_name(one.model), 100).replace("`", "'").replace("|", "\\|")  # nothing in it is markup
        tokens = f"{one.tokens_in} | {one.tokens_cached} | {one.tokens_out} | {one.tokens_thought}"
        rows.append(f"| `{name}` | {one.asks} | {tokens} | {one.seconds:.1f} | {_money_of(one)} |")
    head = "| model | answers | tokens read | from a cache | written | thoughts | seconds | money |"
    return "\n".join([head, "|---|---|---|---|---|---|---|---|", *rows]) if rows else ""


def _count_tokens(accounts: Sequence[Account]) -> str:
    """Tokens read and written, and which of them were cheaper or are in no answer."""
    read, cached, written, thought = (
        sum(getattr(one, name) for one in accounts)
        for name in ("tokens_in", "tokens_cached", "tokens_out", "tokens_thought")
    )
    from_cache = f" ({cached} from a cache)" if cached else ""
    thoughts = f" ({thought} of them thoughts)" if thought else ""
    return f"{read} tokens read{from_cache}, {written} written{thoughts}"


def _money_of(account: Account) -> str:
    """What one model cost; a price that nobody knows is not nothing."""
    if account.dollars:
        return f"{account.dollars:.4f} dollars"
    free = account.dollars is not None or all(map(is_free, split_names(account.model)))
    return "no money" if free else UNKNOWN


def describe_going_on(run: Run) -> str:
    """The line that takes a run further which ended at a limit; empty where none was in its way."""
    stopped = run.ending(Stopped)
    cap = run.settings.limits.get(stopped.reason) if stopped and run.verdict != "proven" else None
    if stopped is None or not isinstance(cap, int | float) or run.started.verb not in ("write", "fix", "page", "build"):
        return ""
    return f"burnish resume {run.id} --{stopped.reason} {2 * cap or 1:g}"
