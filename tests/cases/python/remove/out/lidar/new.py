from lidar.pool import Pool


def take():
    return Pool()
