from .gpu.device import Device
