from pkg import use
assert use.sizes() == 1 and not hasattr(use, "size")
