import unknown_library
from pkg.near import near
