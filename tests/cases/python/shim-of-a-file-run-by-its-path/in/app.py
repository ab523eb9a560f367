import subprocess, sys

subprocess.run([sys.executable, "tool/lib.py"], check=True)
