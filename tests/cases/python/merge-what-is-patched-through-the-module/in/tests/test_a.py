from unittest import mock

from p.a import home


def test_home():
    with mock.patch.dict("p.a.os.environ", {"HOME": "x"}):
        assert home() == "x"
