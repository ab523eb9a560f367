from tool.run import RESULTS


def seen():
    return list(RESULTS)
