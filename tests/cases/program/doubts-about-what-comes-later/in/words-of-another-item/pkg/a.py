from pkg.registry import register


@register
class Field:
    v = 1


@register
class Stay:
    v = 1
