from .models import layers as blocks
