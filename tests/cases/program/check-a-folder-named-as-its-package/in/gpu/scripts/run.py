import gpu.scripts
from gpu.test.utils import card
