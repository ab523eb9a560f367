from p import helpers, links

assert links.close("[^]]+x") == 5
assert helpers.PATTERN == links.LABEL + "x"
