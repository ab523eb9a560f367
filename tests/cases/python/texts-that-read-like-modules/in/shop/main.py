from .plugins import start

start("shop.plugin.run")
