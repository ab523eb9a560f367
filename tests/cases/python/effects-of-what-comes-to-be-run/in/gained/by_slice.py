from gained import base

base.TABLE[:] = ['zz']
