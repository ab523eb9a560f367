import pkg.policy as policy


def run():
    return policy()
