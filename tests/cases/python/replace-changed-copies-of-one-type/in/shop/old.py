from typing import Callable


def increment(field: str) -> Callable[[dict], None]:
    def change(doc):
        doc[field] += 1

    return change


def clean(text: str) -> str:
    if text is None:
        return ""
    text = text.strip()
    text = text.lower()
    return text


def is_there() -> bool:
    try:
        import cupy
    except ImportError:
        return False
    return cupy.cuda.is_available()
