import shop

Y = shop.tail.V
