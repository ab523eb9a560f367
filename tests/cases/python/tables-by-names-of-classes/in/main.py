from ser.codec import dump, load
with open("saved.json") as f: print(load(f.read()).r)
