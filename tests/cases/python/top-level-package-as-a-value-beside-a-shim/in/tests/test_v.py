import unittest.mock as mock
import old.a
def test_v():
    with mock.patch.object(old, "VERSION", "2"):
        assert old.VERSION == "2"
