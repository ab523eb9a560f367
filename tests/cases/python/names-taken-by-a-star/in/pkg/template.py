import string

from pkg import a

URL = string.Template("http://$HOST:$PORT").substitute(a.__dict__)
