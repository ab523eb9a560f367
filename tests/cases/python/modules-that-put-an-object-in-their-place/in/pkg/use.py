from pkg.lazy.tool import helper

print(helper(1))
