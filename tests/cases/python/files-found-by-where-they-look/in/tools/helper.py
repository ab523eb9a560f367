def header():
    return "-"


def footer():
    return "="
