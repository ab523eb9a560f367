import pytest


@pytest.mark.acme
def test_a():
    pass
