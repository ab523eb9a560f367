from tab.core import Device, DeviceError
