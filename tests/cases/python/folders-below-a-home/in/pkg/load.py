import logging
import os

from pkg.places import cache_home, source_home

log = logging.getLogger("pkg")


def names(folder):
    return os.listdir(folder)


def downloaded():
    return names(cache_home() / "datasets")


def known():
    return names(source_home() / "models")
