from space.plugin.tools import VALUE


def help_me():
    return VALUE
