import argparse
from importlib import import_module


def main(key):
    parser = argparse.ArgumentParser()
    options = parser.parse_args()
    chosen = import_module(f"shop.options.{options.name}")
    chosen.run(getattr(options, key))
