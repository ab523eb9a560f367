from unittest import mock

import pkg.a as module


def test_f():
    module.f = lambda: 10
    assert module.go() == 11


def test_limit():
    module.LIMIT = 5


def test_helper():
    with mock.patch.object(module, "helper", lambda: 2):
        assert module.k() == 2
