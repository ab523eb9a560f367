from run.crop import crop
from run.points import shift
