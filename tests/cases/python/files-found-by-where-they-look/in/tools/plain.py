import helper

print(helper.header())
