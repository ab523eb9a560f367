import os

backend_name = os.environ.get("PKG_BACKEND", "torch")
