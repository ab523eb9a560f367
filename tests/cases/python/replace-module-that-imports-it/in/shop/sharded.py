from shop.summary import UNKNOWN, Summary


class ShardedSummary(Summary):
    def total(self, layers):
        return super().total(layers) if layers else UNKNOWN
