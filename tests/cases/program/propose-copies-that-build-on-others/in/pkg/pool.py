from pkg.facade import free_bytes
from pkg.summary_sharded import ShardedSummary


def is_full(size):
    return free_bytes() < size


def report(layers):
    return ShardedSummary(layers).table()
