from unittest import mock

from pkg import registry


def test_kind():
    with mock.patch.multiple("pkg.registry", create=True, type=lambda value: bool):
        assert registry.kind(1) is bool
