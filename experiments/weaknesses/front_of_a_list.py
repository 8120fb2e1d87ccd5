# check: performance
# prompt: a function take_turns(items) that takes items from the front and from the back in turn until none is left, and returns them in that order
# given: assert take_turns([1, 2, 3, 4, 5]) == [1, 5, 2, 4, 3]
# given: assert take_turns(["a", "b"]) == ["a", "b"]
# given: assert take_turns([]) == []
def take_turns(items):
    """The items from both ends in turn."""
    rest = list(items)
    taken = []
    while rest:
        taken.append(rest.pop(0))
        if rest:
            taken.append(rest.pop())
    return taken
