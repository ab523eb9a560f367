import app.commands
from app import web

print(web.HEADERS, web.plugins(), web.UNTOUCHED, web.cli, web.Base, web.DEBUG, web.Client)
print(hasattr(web.view, "title"))
