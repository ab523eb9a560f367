from flt.core import Device, DeviceError
