import lidar.memory


def run():
    return lidar.memory
