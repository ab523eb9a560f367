def load(path: str) -> str:
    return path
