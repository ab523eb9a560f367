from p.new import run

print(run())
