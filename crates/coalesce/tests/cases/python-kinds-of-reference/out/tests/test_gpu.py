from unittest import mock
import acme.core.devices as g
import sys


def test_patch(monkeypatch):
    with mock.patch("acme.core.devices.kernel", return_value="x"), mock.patch.object(g, "main"):
        assert g.kernel() == "x"
    monkeypatch.setattr("acme.core.devices.KERNEL", None)
    assert "acme.core.devices" in sys.modules


def test_kernel():
    assert "global" in g.kernel()


def test_logger(caplog):
    with caplog.at_level("INFO", logger="acme.core.devices"):
        g.logger.info("hi")
    assert caplog.records
