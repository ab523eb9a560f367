pytest_plugins = ["acme.core.devices"]
