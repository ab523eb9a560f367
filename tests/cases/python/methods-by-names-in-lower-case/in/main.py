from p.ev import OrderPlaced, OrderPaid
from p.bus import Handler
print(Handler().handle(OrderPlaced(1)), Handler().handle(OrderPaid(2)))
