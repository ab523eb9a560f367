DEFAULTS = {"shop.gpu": True, "shop.io.threads": 2}
