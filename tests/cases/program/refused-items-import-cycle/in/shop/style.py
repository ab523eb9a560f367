from shop.color import parse

RED = parse(1)
