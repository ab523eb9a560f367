"""Fixtures."""

import pytest
from q import Pool


@pytest.fixture
def pool():
    return Pool()


@pytest.fixture
def double(pool):
    return pool.size * 2


@pytest.fixture(autouse=True)
def clean():
    Pool.size = 1
