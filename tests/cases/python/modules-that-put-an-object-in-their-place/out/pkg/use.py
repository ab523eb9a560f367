from pkg.tools import helper

print(helper(1))
