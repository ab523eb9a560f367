for _name in ("add", "sub"):
    globals()["do_" + _name] = len(_name)

EPS = 7
do_it = 3
