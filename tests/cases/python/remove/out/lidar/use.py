from lidar.new import take
