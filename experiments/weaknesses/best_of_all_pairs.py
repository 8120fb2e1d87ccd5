# check: performance
# prompt: a function best_gain(prices) that returns the most that can be gained by buying on one day and selling on a later one, 0 if nothing can
# given: assert best_gain([7, 1, 5, 3, 6, 4]) == 5
# given: assert best_gain([7, 6, 4, 3, 1]) == 0
# given: assert best_gain([1, 2]) == 1
# given: assert best_gain([]) == 0
def best_gain(prices):
    """The best gain from one purchase and one later sale."""
    best = 0
    for bought in range(len(prices)):
        for sold in range(bought + 1, len(prices)):
            gain = prices[sold] - prices[bought]
            if gain > best:
                best = gain
    return best
