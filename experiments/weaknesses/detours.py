# check: quality
# prompt: a function evens(numbers) that returns the even numbers of a list in order, each doubled
# given: assert evens([1, 2, 3, 4]) == [4, 8]
# given: assert evens([]) == []
# given: assert evens([1]) == []
import math
import random


def evens(numbers):
    result = list()
    check = lambda n: True if n % 2 == 0 else False
    for n in list(numbers):
        if check(n) == True:
            if n is not None:
                result.append(n * 2)
    if len(result) == 0:
        return list([])
    final = result
    return final


def _twice(n):
    value = n * 2
    return value


def _is_even(n):
    if n % 2 == 0:
        return True
    else:
        return False
