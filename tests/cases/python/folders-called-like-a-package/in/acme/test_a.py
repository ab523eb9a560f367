import acme


def test_a():
    assert acme.__name__
