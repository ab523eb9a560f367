from .registry import register


@register("run")
def run():
    return "run"


def more():
    return 2
