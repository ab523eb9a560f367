from acme_core.device import Device, Spare


def test_device():
    assert Device() and Spare()
