from gained.base import Registry

Registry.keep('x')
