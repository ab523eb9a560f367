def run(x):
    return x


def stop():
    return None
