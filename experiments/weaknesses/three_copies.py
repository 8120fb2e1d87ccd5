# check: quality
# prompt: a function totals(orders) that returns the sums of the amounts of orders of kind "a", "b" and "c", in this order; amounts below 0 do not count; orders are (kind, amount) pairs
# given: assert totals([("a", 1), ("b", 2), ("a", 3)]) == [4, 2, 0]
# given: assert totals([("c", -5), ("c", 5)]) == [0, 0, 5]
# given: assert totals([]) == [0, 0, 0]
def totals(orders):
    total_a = 0
    for order in orders:
        if order[0] == "a":
            amount = order[1]
            if amount >= 0:
                total_a = total_a + amount
            else:
                total_a = total_a + 0
    total_b = 0
    for order in orders:
        if order[0] == "b":
            amount = order[1]
            if amount >= 0:
                total_b = total_b + amount
            else:
                total_b = total_b + 0
    total_c = 0
    for order in orders:
        if order[0] == "c":
            amount = order[1]
            if amount >= 0:
                total_c = total_c + amount
            else:
                total_c = total_c + 0
    result = [total_a, total_b, total_c]
    return result
