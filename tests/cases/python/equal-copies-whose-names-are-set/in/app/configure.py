from . import cli, core


def configure(base):
    cli.BASE = base


def quiet():
    core.LEVEL = 0
