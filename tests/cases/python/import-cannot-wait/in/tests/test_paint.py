from unittest import mock

from pkg.ui import patched


def test_paint():
    with mock.patch.object(patched, "kernel", lambda value: 7):
        assert patched.paint(1) == 7
