from gained.base import register

register('util')
