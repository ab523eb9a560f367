import os

DEBUG = os.environ.get("SHOP_DEBUG") == "1"
NAME = "shop"


def debug():
    return DEBUG


def name():
    return NAME
