import logging
from unknown_library import *

_logger = logging.getLogger(__name__)
