import pytest


@pytest.fixture
def data():
    return 1


@pytest.fixture
def maker(data):
    return lambda: data
