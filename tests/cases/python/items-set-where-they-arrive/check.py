from pkg import device
device.enable()
assert device.enabled()
