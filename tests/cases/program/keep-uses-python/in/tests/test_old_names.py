"""The old names work, and warn."""
import pkg.gpu
from pkg.tools import pick


def test_old_names():
    assert pkg.gpu.begin() == 1
    assert pick() == 2
