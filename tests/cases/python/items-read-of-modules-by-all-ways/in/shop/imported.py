def imported(name):
    return __import__(f"shop.imported_from.{name}", fromlist=["LIMITS"])
