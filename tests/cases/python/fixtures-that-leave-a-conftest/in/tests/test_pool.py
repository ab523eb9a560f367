def test_pool(pool, double):
    assert pool.size == 1 and double == 2
