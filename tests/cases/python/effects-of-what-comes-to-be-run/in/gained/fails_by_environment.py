import os

A = {'a': 1}[os.environ.get('GAINED', 'a')]
