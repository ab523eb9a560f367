from lab.ops import run

print(run("blur", 1))
