from gained.base import REGISTRY

REGISTRY.add('x')
