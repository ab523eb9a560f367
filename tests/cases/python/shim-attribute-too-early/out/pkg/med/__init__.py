from .scan import Scan
