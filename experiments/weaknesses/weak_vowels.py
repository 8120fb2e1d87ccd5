# check: mutation
# prompt: a function count_vowels(text) that counts the letters a, e, i, o and u in a text, capital or not
# given: assert count_vowels("tree") == 2
def count_vowels(text):
    """How many vowels there are."""
    return sum(1 for letter in text.lower() if letter in "aeiou")
