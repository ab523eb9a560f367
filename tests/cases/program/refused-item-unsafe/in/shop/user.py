from shop.state import area

area(1, 2)
area(width=1, depth=2)
area(1, height=2)
