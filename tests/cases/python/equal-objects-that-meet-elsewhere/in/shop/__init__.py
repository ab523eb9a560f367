from shop import first
