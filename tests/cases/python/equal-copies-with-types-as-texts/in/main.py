from app.a import User, plain

print(User(id="3").id, plain())
