from pkg import device


def run():
    return device.pick(0), device.Guard().caught()
