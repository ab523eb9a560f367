from ro import hooks


@hooks.hook
def three():
    return 3


def plain():
    return 0
