# check: mutation
# prompt: a function clamp(value, low, high) that returns the value, or the nearer end where it lies outside low to high
# given: assert clamp(5, 0, 10) == 5
def clamp(value, low, high):
    """The value within its bounds."""
    if value < low:
        return low
    if value > high:
        return high
    return value
