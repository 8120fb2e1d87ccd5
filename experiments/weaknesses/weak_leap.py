# check: mutation
# prompt: a function is_leap(year) that tells whether a year is a leap year of the Gregorian calendar
# given: assert is_leap(2024) is True
def is_leap(year):
    """Whether the year has 366 days."""
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
