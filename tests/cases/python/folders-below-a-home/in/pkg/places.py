import os
from pathlib import Path


def cache_home():
    found = os.environ.get("PKG_CACHE", None)
    return Path(found) if found else Path.home() / ".cache" / "pkg"


def source_home():
    return Path(__file__).parent
