from be.reg import register
from be import cpu


@register("gpu")
class Gpu:
    fallback = cpu.Cpu
