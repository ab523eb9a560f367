from pat.core import Device, DeviceError
