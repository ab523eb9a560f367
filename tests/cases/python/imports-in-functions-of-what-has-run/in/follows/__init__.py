from follows.helper import double
