import pkg

print(pkg.device.count(), pkg.device.name())
