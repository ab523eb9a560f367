"""Tasks of the tests."""

import os
import signal
import time

from core_gpu.worker import task


@task
def doubled(value):
    return value * 2


@task
def added_in_place(array, number):
    array += number
    return array


@task
def several(one, other):
    return {"sum": one + other, "both": [one, other], "process": os.getpid()}


@task
def fails(text):
    raise ValueError(text)


@task
def hangs():
    time.sleep(60)


@task
def hangs_with(array):
    time.sleep(60)


KEPT = []


@task
def kept(array):
    KEPT.append(array)
    return int(array[0])


@task
def sum_of_kept():
    return int(sum(array.sum() for array in KEPT))


@task
def dies():
    os.kill(os.getpid(), signal.SIGKILL)


@task
def unsendable():
    return lambda: None


@task
def variable(name):
    return os.environ.get(name)


@task
def doubled_in_place_once_it_lives(array, marker):
    array *= 2
    try:
        os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return array
    os._exit(1)
