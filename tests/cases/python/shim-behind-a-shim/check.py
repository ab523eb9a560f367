import warnings

with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    import p.old

    assert p.old.f(1) == 6
    from p.old import f

    assert f(2) == 8
    p.old.f = lambda x: x
    import p.other

    assert p.other.f(3) == 3

# Each of them names a line of this file, not one of a shim.
assert {each.filename for each in told} == {__file__}, [str(each) for each in told]
lines = {each.lineno for each in told if "p.new.f" in str(each.message)}
assert lines == {7, 8, 11}, lines
