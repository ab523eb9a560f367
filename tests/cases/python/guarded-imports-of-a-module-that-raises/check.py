from om import direct, lazy, opt
assert (direct.plain(), lazy.go(), opt.release()) == ("plain", 2, ("freed", True))
