from ._version import version
