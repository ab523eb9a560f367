from models.pictures import Pictures
from models.sounds import loudest, spectrum

print(Pictures("a", []).names(), spectrum([1, 2], 1), loudest([[1]]))
