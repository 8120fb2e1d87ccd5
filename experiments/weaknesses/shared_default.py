# check: quality
# prompt: a function add_tag(tag, tags) that returns the tags with one more; without tags it begins a new list
# given: assert add_tag("a", ["b"]) == ["b", "a"]
# given: assert add_tag("x", []) == ["x"]
# given: assert add_tag("x") == ["x"]
def add_tag(tag, tags=[]):
    list = []
    for i in range(len(tags)):
        list.append(tags[i])
    if not tag in list:
        list.append(tag)
    else:
        pass
    str = None
    if str != None:
        return str
    return list
    print("never")
