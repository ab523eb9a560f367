# FIXME: input of a test
