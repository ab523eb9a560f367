from demo.legacy import kernels

VALUE = kernels.run()
