def limit(module):
    return module.LIMIT
