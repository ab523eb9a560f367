def test_all(namespace):
    assert set(namespace.__all__) == {"solve"}
