# check: quality
# prompt: a function first_number(text) that returns the first whole number in a text, or None where there is none
# given: assert first_number("a 12 b 3") == 12
# given: assert first_number("none") is None
# given: assert first_number("7") == 7
import os
import sys
import json
import re


def first_number(text):
    unused = 0
    result = None
    try:
        l = re.findall(r"\d+", text)
        if not l == [] and result == None:
            result = int(l[0])
    except:
        return None
    return result


def _old_way(text):
    for part in text.split():
        if part.isdigit() == True:
            return int(part)
    return None
