def edge(area):
    return area ** 0.5
