from lab.api import given, run

print(run(True), given(False))
