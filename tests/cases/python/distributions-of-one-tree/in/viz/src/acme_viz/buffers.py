from acme_core.device import Device


class Pool:
    device = Device


class Ring:
    pool = Pool


class Other:
    pool = Pool


class Plain:
    size = 1
