# check: performance
# prompt: a function unique(items) that returns each item once, in the order of the first time it comes
# given: assert unique([1, 2, 1, 3, 2]) == [1, 2, 3]
# given: assert unique(["b", "a", "b"]) == ["b", "a"]
# given: assert unique([]) == []
def unique(items):
    """Each item once."""
    seen = []
    for item in items:
        if item not in seen:
            seen.append(item)
    return seen
