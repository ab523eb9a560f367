import lazy_loader
import os

__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, os.listdir("."), {"core": ["load"]})
