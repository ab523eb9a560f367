from app.strings import User, same, wait

print(same("A", "a "), User().save(), wait())
