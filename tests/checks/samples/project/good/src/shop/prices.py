"""What things cost.

>>> total([1, 2, 3])
6
"""

RATE = 5


def total(prices):
    """The sum of all prices.

    >>> total([])
    0
    """
    return sum(prices)


def discount(price, member):
    """A member pays less."""
    if member:
        return price * (100 - RATE) // 100
    return price


def refuse(price):
    """Never tested."""
    if price < 0:
        raise ValueError(price)
    return price
