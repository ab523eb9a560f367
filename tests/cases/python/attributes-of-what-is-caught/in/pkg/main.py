from pkg.errors import Failure

HOMES = {"session": "pkg.session"}


def main(run):
    try:
        run()
    except Failure as error:
        error.log("failed")


def told(thing):
    return thing.show("told")


PAGES = ["pkg.report"]
