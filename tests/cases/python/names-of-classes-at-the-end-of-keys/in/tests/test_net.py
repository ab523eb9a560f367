from pkg.net import state


def test_state():
    assert list(state()) == ["layers.0.Linear", "layers.1.Relu"]
