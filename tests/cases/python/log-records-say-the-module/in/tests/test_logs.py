import logging

from pkg import run, spoken


def test_lines(capsys):
    spoken.spoken()
    assert "spoken: loading" in capsys.readouterr().err


def test_records(caplog):
    with caplog.at_level(logging.INFO):
        run.run_all()
    assert [record.funcName for record in caplog.records] == ["run_all"]
