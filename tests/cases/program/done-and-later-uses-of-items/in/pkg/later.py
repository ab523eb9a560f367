from .shapes import LIMIT as MOST

print(MOST)
