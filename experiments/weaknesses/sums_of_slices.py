# check: performance
# prompt: a function running_means(numbers) that returns for each place the mean of all numbers up to it
# given: assert running_means([2, 4, 6]) == [2.0, 3.0, 4.0]
# given: assert running_means([5]) == [5.0]
# given: assert running_means([]) == []
def running_means(numbers):
    """The mean of the numbers so far, at each place."""
    means = []
    for place in range(len(numbers)):
        means.append(sum(numbers[: place + 1]) / (place + 1))
    return means
