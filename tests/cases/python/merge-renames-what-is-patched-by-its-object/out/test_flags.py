from unittest import mock

from flags import a


def test():
    with mock.patch.object(a, "B_USE", None):
        assert a.of_b() is None
