def test_gpu():
    pass
