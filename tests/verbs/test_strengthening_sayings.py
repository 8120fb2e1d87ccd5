"""What a docstring says of its function, and which call it speaks of."""

from burnish.verbs.strengthening.sayings import sayings_of

MODULE = '''def show(rows):
    """Show rows as text, e.g. '7' in show([[7, 8]]), show([]) == ''."""
    return str(rows) if rows else ""
'''


def test_a_saying_knows_its_call_on_whichever_side_it_stands() -> None:
    told = [(one.check, one.call) for one in sayings_of(MODULE, "show")]
    assert told == [("'7' in show([[7, 8]])", "show([[7, 8]])"), ("show([]) == ''", "show([])")]
