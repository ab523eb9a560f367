import pytest


@pytest.fixture
def level():
    return 3
