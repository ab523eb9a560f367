import pytest


@pytest.fixture
def thing():
    return 1


@pytest.fixture
def other():
    return 1
