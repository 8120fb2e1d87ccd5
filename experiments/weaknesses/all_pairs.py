# check: performance
# prompt: a function two_sum(numbers, target) that returns the places of the first two numbers whose sum is the target, else None
# given: assert two_sum([2, 7, 11, 15], 9) == (0, 1)
# given: assert two_sum([3, 2, 4], 6) == (1, 2)
# given: assert two_sum([1, 2, 4], 100) is None
def two_sum(numbers, target):
    """The places of two numbers with this sum."""
    for i in range(len(numbers)):
        for j in range(i + 1, len(numbers)):
            if numbers[i] + numbers[j] == target:
                return (i, j)
    return None
