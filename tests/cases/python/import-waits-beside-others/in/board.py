from pkg.ui.brush import stroke


def fill(tools):
    return tools.kernel(stroke(1))
