from pkg import Device
