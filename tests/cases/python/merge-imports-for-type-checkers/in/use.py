from p.holder import Holder
from p.model import Model

print(Model().run(Holder()))
