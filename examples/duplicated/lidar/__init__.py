"""Point clouds: tiles in, features out."""
from .core.gpu import GpuManager

__all__ = ["GpuManager", "__version__"]
__version__ = "3.8.0"
