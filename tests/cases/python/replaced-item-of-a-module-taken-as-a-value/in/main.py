from app import settings

print({name: getattr(settings, name) for name in dir(settings)})
