from .till import sell
