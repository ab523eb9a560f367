from p.holder import Holder
from p.holder import Model

print(Model().run(Holder()))
