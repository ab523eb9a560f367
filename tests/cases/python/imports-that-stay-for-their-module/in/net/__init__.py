from .old.auth import (
    Auth,
)  # for old users
