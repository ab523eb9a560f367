from pkg.base import evaluate, fill

ONE = evaluate({})
fill("a")
