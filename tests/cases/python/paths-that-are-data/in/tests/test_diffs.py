from pkg import diffs, reading


def test_files():
    assert diffs.files("+++ b/pkg/old.py") == ["pkg/old.py"]


def test_name():
    assert diffs.is_python("pkg/old.py")


def test_lines():
    assert reading.lines("pkg/old.py")
