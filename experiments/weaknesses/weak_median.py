# check: mutation
# prompt: a function median(numbers) that returns the middle number of a list, the mean of the two middle ones where their count is even, and None for an empty list
# given: assert median([3, 1, 2]) == 2
def median(numbers):
    """The middle of the numbers."""
    if not numbers:
        return None
    ordered = sorted(numbers)
    middle = len(ordered) // 2
    if len(ordered) % 2 == 1:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2
