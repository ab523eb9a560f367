from lab.device import Device, Plain

print(Device("gpu").kind, Plain is not None)
