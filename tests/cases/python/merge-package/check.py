from lidar.use import run

assert run() == ([2], 1, True, 2)
