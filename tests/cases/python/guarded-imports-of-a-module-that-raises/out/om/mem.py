def plain():
    return "plain"
