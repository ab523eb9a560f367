import app

print(app.run(), app.helper(), app.walk())
