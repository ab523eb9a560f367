from unittest import mock

from flags import b


def test():
    with mock.patch.object(b, "USE", None):
        assert b.of_b() is None
