from ..layers import Net
