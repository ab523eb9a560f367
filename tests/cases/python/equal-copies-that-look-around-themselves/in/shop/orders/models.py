class Model:
    name = "orders"
