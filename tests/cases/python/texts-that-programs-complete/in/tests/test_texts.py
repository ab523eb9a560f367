import timeit
from unittest import mock

import pytest

from pkg import use

MODULE = "pkg.a"
CODE = "from pkg.a import %s"


def test_parts():
    with mock.patch(f"{MODULE}.send", return_value=5):
        assert use.call()[0] == 5


@pytest.fixture(params=["send"])
def patched(request):
    with mock.patch(f"pkg.a.{request.param}", return_value=5) as found:
        yield found


def test_times():
    for name in ["send", "other"]:
        timeit.timeit(f"{name}()", setup=CODE % name, number=1)
