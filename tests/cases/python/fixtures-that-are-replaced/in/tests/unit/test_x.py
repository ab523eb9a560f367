def test_x(client, state, same):
    assert (client, state, same) == ("unit", [], 1)
