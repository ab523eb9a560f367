import logging

from shop import asked, got

ROOT = logging.getLogger("shop")


def set_up():
    logging.getLogger(asked.__name__).setLevel(logging.ERROR)
    ROOT.getChild("child").setLevel(logging.ERROR)
    logging.getLogger(f"{__package__}.formatted").setLevel(logging.ERROR)
    logging.getLogger("%s.percent" % __package__).setLevel(logging.ERROR)
    logging.getLogger(".".join(["shop", "joined"])).setLevel(logging.ERROR)
    for part in ("looped",):
        logging.getLogger("shop." + part).setLevel(logging.ERROR)
    getattr(got, "log").setLevel(logging.ERROR)
    logging.getLogger(f"{__package__}.gpu").setLevel(logging.ERROR)
