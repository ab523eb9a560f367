from lidar.use import take

assert type(take()).__name__ == "Pool"
