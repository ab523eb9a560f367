from effects.base import Base

Plug = type('Plug', (Base,), {})
