from p import deco, more

assert deco.cached(1) == (1,)
assert more.Child.size == 2 and more.TABLE == (3,)
