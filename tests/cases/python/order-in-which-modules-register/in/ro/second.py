from .hooks import hook


@hook
def two():
    return 2
