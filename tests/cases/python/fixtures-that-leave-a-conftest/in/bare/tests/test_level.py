def test_level(level):
    assert level == 3
