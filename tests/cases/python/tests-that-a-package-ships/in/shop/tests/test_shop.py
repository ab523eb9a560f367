from shop.tests.helpers import other


def test_other():
    assert other() == 2
