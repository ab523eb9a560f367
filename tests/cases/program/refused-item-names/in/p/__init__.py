from p.core import Core
