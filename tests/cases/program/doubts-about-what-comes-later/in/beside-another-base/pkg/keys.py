from pkg.loud import Both


class Key:
    compact = Both()
