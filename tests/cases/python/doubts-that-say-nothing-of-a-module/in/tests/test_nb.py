import subprocess


def test_scripts():
    assert subprocess.run(["python", "scripts/plot.py"], capture_output=True, text=True).stdout == "#\n"
