from shop.style import RED
