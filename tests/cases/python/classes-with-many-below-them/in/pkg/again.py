from pkg import many

Third = many.Plugin3


class Again(Third):
    pass
