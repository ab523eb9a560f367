from gpu.test.utils import card
from gpu.test.utils import gone
