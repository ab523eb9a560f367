import tool


def run():
    return tool.util.load() + tool.util.store()
