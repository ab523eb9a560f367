import graph.node


def depth():
    return graph.node.DEPTH
