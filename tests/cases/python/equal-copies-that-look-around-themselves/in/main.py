from shop.orders.base import Repository, limit, shared
from shop.orders.paths import TEMPLATES, place

print(Repository().model().name, limit(), shared(), TEMPLATES, place("x"))
