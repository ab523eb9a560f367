from shop.sharded import ShardedSummary

print(ShardedSummary().total([]))
