def total_of(prices, start=0):
    return sum(prices, start)
