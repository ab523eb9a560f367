from .client import Client
from .server import Server as Server

N: int = 1
