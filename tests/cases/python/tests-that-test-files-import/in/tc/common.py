class TestContract:
    factory = dict

    def test_empty(self):
        assert not self.factory()


class Helper:
    pass


def test_shared():
    assert True
