from ro.hooks import hook


@hook
def one():
    return 1
