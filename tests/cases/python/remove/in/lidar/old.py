from lidar.names import Pool


def take():
    return Pool()
