from .which import might_be
