from unittest import mock

from pkg import a


def patched(name):
    return mock.patch("pkg.a." + name, return_value=5)


def test_poll():
    with patched("wait"):
        assert a.poll() == 5
