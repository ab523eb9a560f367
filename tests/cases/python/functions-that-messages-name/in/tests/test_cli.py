from pkg import cli


def test_message(capsys):
    try:
        cli.main(["-n", "-3"])
    except SystemExit:
        assert "invalid positive value" in capsys.readouterr().err


def test_call():
    try:
        cli.resize([1])
    except TypeError as error:
        assert "resize() missing" in str(error)
    assert cli.plain("plain words")
