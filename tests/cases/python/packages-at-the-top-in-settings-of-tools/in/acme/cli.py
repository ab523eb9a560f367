import subprocess
import sys


def main():
    print("no acme found", f"acme is {main}: {__name__}")
    return subprocess.run([sys.executable, "-m", "acme"])
