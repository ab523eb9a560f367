from pkg.dev import MAX, OldDevice, old_size


def make():
    return OldDevice(), old_size(MAX)
