class DeviceError(Exception):
    pass


class Device:
    error = DeviceError
