from tests.helpers.checks import check


def test_made(made):
    check(made)
