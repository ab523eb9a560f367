from .models import layers
