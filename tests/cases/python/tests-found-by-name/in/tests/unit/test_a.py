import pytest


@pytest.fixture
def local():
    return 1


def test_thing(thing):
    assert thing == 1


def test_local(local):
    assert local == 1
