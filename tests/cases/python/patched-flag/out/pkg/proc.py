from pkg import core



def use():
    return "gpu" if core.FLAG else "cpu"
