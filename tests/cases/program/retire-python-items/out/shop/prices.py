from shop.basket import total


def price(basket):
    return total(basket)
