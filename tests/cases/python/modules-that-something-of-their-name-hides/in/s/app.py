from s import fmt


def go():
    return fmt(5)
