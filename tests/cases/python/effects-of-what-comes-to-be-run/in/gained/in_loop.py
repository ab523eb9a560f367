from gained.base import CHOICES

for CHOICES['a'] in (1, 2):
    pass
