from pkg.tools import announce, first

HEAD = first(["one"])
announce("counted")
