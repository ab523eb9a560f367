from pkg.reg2 import register


@register
class Field:
    v = 1
