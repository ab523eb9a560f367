from pathlib import Path

from pkg import old, reading


def test_lines():
    assert reading.lines("pkg/old.py")


def test_path():
    path = Path(old.__file__).relative_to(Path.cwd())
    assert str(path) == "pkg/old.py"
