import pkg
import pkg.core.hw

print(pkg.core.hw.count(), pkg.device.name())
