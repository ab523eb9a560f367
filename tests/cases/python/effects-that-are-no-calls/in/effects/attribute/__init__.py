from effects.base import LOOSE

X = LOOSE.plugin
