from shop.box import Box

SIMPLE = Box("simple")
