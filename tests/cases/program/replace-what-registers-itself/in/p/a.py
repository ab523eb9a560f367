from p.reg import register


@register("a")
def kl(x):
    return x + 1
