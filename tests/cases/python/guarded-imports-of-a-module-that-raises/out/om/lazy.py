def go():
    try:
        from om.gpu import run
    except ImportError:
        return "no gpu"
    return run(1)
