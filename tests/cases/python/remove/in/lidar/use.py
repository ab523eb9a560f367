from lidar.old import take
