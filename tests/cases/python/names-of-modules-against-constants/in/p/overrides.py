import inspect
import sys

PREFIXES = (
    "vtkmodules.",
    "p.vtk.",
)


class Override:
    def __init_subclass__(cls, **kwargs):
        for base in cls.__bases__:
            if base.__module__.startswith(PREFIXES):
                base.override(None)


def is_standard(kind):
    return inspect.getmodule(kind).__name__ in {*sys.stdlib_module_names, "typing_extensions"}
