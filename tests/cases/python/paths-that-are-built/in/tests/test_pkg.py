import pkg_extra


def test_name():
    assert pkg_extra.NAME
