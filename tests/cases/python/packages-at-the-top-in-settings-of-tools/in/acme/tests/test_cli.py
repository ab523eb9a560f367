from acme import cli


def test_cli():
    assert cli.main
