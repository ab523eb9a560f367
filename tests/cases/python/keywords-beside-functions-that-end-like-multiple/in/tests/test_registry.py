from unittest import mock

from pkg import registry


def write(path, type=None):
    return path, type


def test_write_multiple():
    with mock.patch("os.getcwd"):
        assert write("a", type="b") == ("a", "b")
    assert registry.kind(1) is int
