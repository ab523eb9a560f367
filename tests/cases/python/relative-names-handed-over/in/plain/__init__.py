ENDINGS = [".old.server", ".py"]
