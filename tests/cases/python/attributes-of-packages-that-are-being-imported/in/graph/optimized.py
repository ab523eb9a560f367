from graph.node import Node
from graph import visit


class OptimizedNode(Node):
    limit = visit.depth()
