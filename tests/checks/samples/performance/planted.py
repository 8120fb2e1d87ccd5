"""Twelve functions whose growth is known."""


def lookup(table, key):
    return table.get(key)


def binary_search(items, wanted):
    low, high = 0, len(items)
    while low < high:
        middle = (low + high) // 2
        if items[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


def total(numbers):
    result = 0
    for number in numbers:
        result += number
    return result


def shout(words):
    return "-".join(words).upper()


def is_palindrome(text):
    left, right = 0, len(text) - 1
    while left < right:
        if text[left] != text[right]:
            return False
        left, right = left + 1, right - 1
    return True


def in_order(numbers):
    return sorted(numbers)


def merge_sort(numbers):
    if len(numbers) < 2:
        return numbers
    middle = len(numbers) // 2
    left, right = merge_sort(numbers[:middle]), merge_sort(numbers[middle:])
    merged, i, j = [], 0, 0
    while i < len(left) and j < len(right):
        if left[i] <= right[j]:
            merged.append(left[i])
            i += 1
        else:
            merged.append(right[j])
            j += 1
    return merged + left[i:] + right[j:]


def bubble_sort(numbers):
    for end in range(len(numbers), 1, -1):
        for place in range(end - 1):
            if numbers[place] > numbers[place + 1]:
                numbers[place], numbers[place + 1] = numbers[place + 1], numbers[place]
    return numbers


def without_repeats(numbers):
    kept = []
    for number in numbers:
        if number not in kept:
            kept.append(number)
    return kept


def common(left, right):
    return [(a, b) for a in left for b in right if a == b]


def triples(numbers, goal):
    count = 0
    for a in numbers:
        for b in numbers:
            for c in numbers:
                count += a + b + c == goal
    return count


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)
