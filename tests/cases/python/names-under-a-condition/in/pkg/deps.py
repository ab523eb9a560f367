import importlib.util


def problem_with(name):
    return None if importlib.util.find_spec(name) else f"{name} is not here"
