from app.cli import address, fetch, level, port, show, wait

print(address("/x"), fetch("u"), level(), port(), show("a"), wait())
