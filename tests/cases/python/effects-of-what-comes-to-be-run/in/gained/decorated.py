from gained.base import register


@register
def handler():
    return 1
