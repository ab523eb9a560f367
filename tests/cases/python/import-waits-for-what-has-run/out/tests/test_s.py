from unittest import mock

from s.links import close


def test_close():
    with mock.patch("s.helpers.parse", return_value=1):
        assert close("") == 4
