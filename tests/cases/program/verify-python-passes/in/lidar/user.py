from lidar.old.kernels import run

TWO = run([1, 2])
