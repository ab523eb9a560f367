from p.reg import register


@register("b")
def kl(x):
    return x + 1
