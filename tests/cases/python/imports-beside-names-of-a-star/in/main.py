from app.new import helper, here
from app.old import run
from app.same import there
from app import user

print(run(), here(), helper(), there(), user.use(), user.helper())
