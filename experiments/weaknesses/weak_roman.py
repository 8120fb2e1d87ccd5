# check: mutation
# prompt: a function from_roman(text) that turns a roman numeral into a number
# given: assert from_roman("III") == 3
def from_roman(text):
    """The number that a roman numeral stands for."""
    values = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
    total = 0
    for place, letter in enumerate(text):
        value = values[letter]
        if place + 1 < len(text) and values[text[place + 1]] > value:
            total -= value
        else:
            total += value
    return total
