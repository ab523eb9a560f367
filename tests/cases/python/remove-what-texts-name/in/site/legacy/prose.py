def tell():
    return 1
