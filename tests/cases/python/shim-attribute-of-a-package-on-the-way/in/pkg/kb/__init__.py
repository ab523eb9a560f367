from .other import y
