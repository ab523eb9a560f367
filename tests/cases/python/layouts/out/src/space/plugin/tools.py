from demo import kernels

VALUE = kernels.run()
