"""Fixtures for all tests."""
from pkg.fixtures import fixture
