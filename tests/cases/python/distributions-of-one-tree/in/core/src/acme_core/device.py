class DeviceError(Exception):
    pass


class Device:
    def fail(self):
        raise DeviceError("no")


class Spare:
    pass
