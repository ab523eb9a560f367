from unittest import mock

from app import cli


@mock.patch("app.cli._request", return_value="fake")
def test_fetch(request):
    assert cli.fetch("u") == "fake"


def test_wait(monkeypatch):
    monkeypatch.setattr(cli, "DELAY", 0)
    assert cli.wait() == 0
