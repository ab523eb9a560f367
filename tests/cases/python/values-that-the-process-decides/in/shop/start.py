import decimal
import os
import sys

from shop import config

KEY = "SHOP_KEY"

os.environ |= {"SHOP_MERGED": "1"}
os.environ.update({"SHOP_UPDATED": "1", "OTHER": "2"})
os.environ[KEY] = "1"
os.environ.setdefault("SHOP_HELPED", "1")
sys.argv = sys.argv[:1]
os.chdir("/")
sys.path.append("/opt")
decimal.getcontext().prec = 5
setattr(config, "level", 3)


def main():
    config.set_inside(3)
    from shop import old

    return old.stays()
