# check: quality
# prompt: a function size_name(width, height) that returns "none" if a side is not positive, else "small", "medium" or "large" by the larger side (below 10, below 100, else)
# given: assert size_name(1, 2) == "small"
# given: assert size_name(50, 2) == "medium"
# given: assert size_name(2, 500) == "large"
# given: assert size_name(0, 5) == "none"
# given: assert size_name(5, -1) == "none"
# given: assert size_name(10, 10) == "medium"
# given: assert size_name(100, 1) == "large"
def size_name(width, height):
    if width > 0:
        if height > 0:
            if width > height:
                if width < 10:
                    return "small"
                else:
                    if width < 100:
                        return "medium"
                    else:
                        if width >= 100:
                            return "large"
                        else:
                            return "none"
            else:
                if height < 10:
                    return "small"
                else:
                    if height < 100:
                        return "medium"
                    else:
                        if height >= 100:
                            return "large"
                        else:
                            return "none"
        else:
            if height <= 0:
                return "none"
    else:
        if width <= 0:
            if height <= 0:
                return "none"
            elif height > 0:
                return "none"
    return "none"
