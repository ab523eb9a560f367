from . import helpers, links
