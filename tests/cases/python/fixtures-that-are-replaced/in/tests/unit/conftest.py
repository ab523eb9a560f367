import pytest


@pytest.fixture
def client():
    return "unit"


@pytest.fixture
def state():
    return []


@pytest.fixture
def same():
    return 1
