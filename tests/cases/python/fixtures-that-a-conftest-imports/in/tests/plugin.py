import pytest


@pytest.fixture
def loaded():
    return 1


@pytest.fixture
def more(loaded):
    return loaded
