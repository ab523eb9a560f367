from p.old import run

print(run())
