import logging
import pkgutil
from importlib import import_module, resources
from pathlib import Path

log = logging.getLogger(__name__)
TABLE = Path(__file__).parent / "table.csv"


def read():
    return pkgutil.get_data(__package__, "table.csv"), resources.files(__name__)


def above():
    return __name__.rpartition(".")[0]


def beside():
    return import_module(".core", __package__)
