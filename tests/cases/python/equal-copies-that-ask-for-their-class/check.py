from pkg import use
assert use.found == (True, False, 0, "")
