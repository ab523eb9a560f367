def test(data, maker, more):
    assert maker() == data == more
