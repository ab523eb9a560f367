from app.views import view

print(view())
