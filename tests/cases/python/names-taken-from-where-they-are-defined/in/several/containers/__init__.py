from .view import View
