"""`find_spec` looks for a module: who has another name is looked for by that."""
from importlib.util import find_spec

HAS_BY_DOTS = find_spec(".old", __package__) is not None
HAS_BY_PACKAGE = find_spec(f"{__package__}.old") is not None
HAS_BY_NAME = find_spec(__name__ + ".old") is not None
HAS_CUPY = find_spec("cupy") is not None
