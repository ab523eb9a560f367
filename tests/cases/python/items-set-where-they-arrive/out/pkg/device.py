from pkg import flags


def enable():
    flags.FLAG = True


def enabled():
    return flags.FLAG
