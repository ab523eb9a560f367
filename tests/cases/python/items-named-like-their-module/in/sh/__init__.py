from sh.resize import resize
from sh.crop import crop
