def tool(count: int) -> int:
    return count


def stays() -> int:
    return 1
