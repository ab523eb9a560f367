from gained.base import CHOICES

X = CHOICES.update(a=1)
