from .new import (
    Auth,
)  # for old users
from .old import auth as _auth  # noqa: F401
