from pkg.__init__ import __version__
print(__version__)
