__all__ = ["trim"]


def trim(text):
    return text.strip()


def slug(text):
    return text.lower()
