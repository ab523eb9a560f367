from shop.named import count


def test_count(caplog):
    with caplog.at_level(10, logger="shop.named"):
        assert count() == 1
