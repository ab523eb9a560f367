from pkg.a import *

URL = "http://%(HOST)s:%(PORT)s" % globals()
