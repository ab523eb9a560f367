from .core.boxes import LIMIT as MOST

print(MOST)
