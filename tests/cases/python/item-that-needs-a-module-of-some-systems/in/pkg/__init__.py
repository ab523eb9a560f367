from .base import value
