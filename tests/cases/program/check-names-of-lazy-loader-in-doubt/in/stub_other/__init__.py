import lazy_loader as lazy
from pathlib import Path
__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, str(Path(__file__).parent / "_lazy.pyi"))
