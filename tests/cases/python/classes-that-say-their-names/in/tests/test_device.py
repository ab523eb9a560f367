from lab.device import Device, Fixed, Hidden, LowMemory, Mode, Span, Stream


def test_texts():
    assert repr(Device("gpu")) == "Device('gpu')"
    assert f"{Mode.FAST!r}" == "<Mode.FAST: 1>"
    assert repr(LowMemory("no")) == "LowMemory('no')"
    assert f"{Span(1)}" == f"Span(start={1})"
    assert str([Stream()]) == "[Stream()]"
    assert "Hidden(" not in repr(Hidden(1))
    assert repr(Fixed()) == "Fixed(1)"
