import warnings

with warnings.catch_warnings(record=True) as given:
    warnings.simplefilter("always")
    import show

import colors

if hasattr(colors, "blending"):
    assert not given, given
with warnings.catch_warnings(record=True) as given:
    warnings.simplefilter("always")
    from colors import mix

    assert mix(1, 2) == 3
