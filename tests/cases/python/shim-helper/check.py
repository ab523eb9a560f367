import warnings
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    import pkg.geo.lie
assert any("pkg.lie" in str(each.message) for each in told)
