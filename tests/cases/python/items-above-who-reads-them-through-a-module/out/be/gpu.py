from be.reg import register
from be import cpu


@register("cpu")
class Cpu:
    pass


@register("gpu")
class Gpu:
    fallback = Cpu
