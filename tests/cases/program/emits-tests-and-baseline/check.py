"""The emitted tests pass, and fail where somebody goes back to the old path."""
import pathlib
import subprocess
import sys

try:
    import pytest
except ImportError:
    print("skipped: pytest is not installed")
    sys.exit(0)


def run():
    call = [sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"]
    return subprocess.run(call, stdout=subprocess.PIPE, encoding="utf-8")


result = run()
assert result.returncode == 0, result.stdout
for line in ("from p.kernels import X", "from . import late", "import p.late as late"):
    pathlib.Path("p/new.py").write_text("def lazily():\n    %s\n" % line)
    result = run()
    assert "1 failed" in result.stdout and "new.py:2" in result.stdout, (line, result.stdout)
