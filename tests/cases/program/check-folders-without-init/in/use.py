import a.sub
from a import sub
from a.sub import thing
import a.sub.thing
from a.sub import nothing
import a.sub.nothing
from a import su
