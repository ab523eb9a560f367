class Model:
    name = "users"
