from typing import Callable


def increment(field: str) -> Callable[[dict], None]:
    def change(doc):
        doc[field] += 2

    return change


def clean(text: str) -> str:
    text = text.strip()
    text = text.lower()
    return text


def is_there() -> bool:
    return any(name.startswith("nvidia") for name in open("/proc/modules"))
