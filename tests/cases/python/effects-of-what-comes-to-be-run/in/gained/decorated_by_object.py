from gained.base import REGISTRY


@REGISTRY
def handler():
    return 1
