from be.reg import register


@register("cpu")
class Cpu:
    pass
