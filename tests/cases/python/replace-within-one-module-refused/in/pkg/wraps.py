def find(name: str) -> str:
    return name


def get(name: str) -> str:
    return find(name)
