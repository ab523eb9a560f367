from pkg.many import Plugin3 as Third


class Special(Third):
    pass
