from .device import Device, DeviceError
