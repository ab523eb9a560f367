import subprocess, sys

for first in ("shop", "shop.box", "shop.simple", "shop.user", "shop.replace", "shop.protocol"):
    subprocess.run([sys.executable, "-c", f"import {first}, shop.user, shop.replace"], check=True)
