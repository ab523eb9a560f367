import warnings

import acme
from acme import K, cli


def test_names():
    assert acme.__name__ == "acme"
    assert K.__module__ == "acme"
    assert K.__module__.startswith("acme")
    assert cli.__name__ == "acme.cli"
    assert "acme" not in ("a", "b")
