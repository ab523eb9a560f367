from lidar.gpu_utils import pick_device
