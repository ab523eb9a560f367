from pkg.registry import register


@register
class Other:
    v = 2


class Field:
    v = 1
