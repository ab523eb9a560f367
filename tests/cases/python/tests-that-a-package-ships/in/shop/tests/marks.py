import pytest

slow = pytest.mark.slow
