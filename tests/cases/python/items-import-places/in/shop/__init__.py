from shop.box import Box
