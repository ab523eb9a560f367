import pkg.tools.table


def run():
    return pkg.tools.table.show([1])
