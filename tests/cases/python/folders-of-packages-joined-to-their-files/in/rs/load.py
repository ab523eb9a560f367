import importlib.resources as ir

import rs.words


def here():
    return ir.files(__package__).joinpath("data").is_dir()


def slash():
    return (ir.files("rs") / "data").is_dir()


def words():
    return (ir.files("rs.data") / "words.txt").read_text(), rs.words
