from unittest import mock

from p.b import home


def test_home():
    with mock.patch.dict("p.b.os.environ", {"HOME": "x"}):
        assert home() == "x"
