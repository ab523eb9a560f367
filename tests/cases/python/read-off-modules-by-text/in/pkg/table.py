from pkg.load import needs

ALL = [needs(path) for path in ("pkg.plugins.fast", "pkg.plugins.slow")]
