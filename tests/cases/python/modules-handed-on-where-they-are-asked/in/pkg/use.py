from pkg import cpu, gpu


def first():
    return gpu or cpu


def chosen():
    return gpu if gpu is not None else cpu


def asked(found):
    return found in (gpu, cpu)


def go(x):
    return first().run(x) + chosen().run(x)
