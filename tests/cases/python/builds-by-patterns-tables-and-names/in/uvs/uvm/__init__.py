from uvm.core import Device, DeviceError
