import pytest

from tests.helpers.factories import make

pytest.register_assert_rewrite("tests.helpers.checks")


@pytest.fixture
def made():
    return make()
