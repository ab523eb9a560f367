from lidar.core.gpu import covariance
