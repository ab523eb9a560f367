import pytest


@pytest.fixture
def client():
    return "root"


@pytest.fixture(scope="session")
def state():
    return []


@pytest.fixture
def same():
    return 1
