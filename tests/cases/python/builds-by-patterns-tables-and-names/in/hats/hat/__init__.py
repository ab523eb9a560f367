from hat.core import Device, DeviceError
