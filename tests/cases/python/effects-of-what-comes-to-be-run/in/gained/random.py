import random

X = random.random()
