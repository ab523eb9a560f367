import abc

Base = abc.ABCMeta('Base', (object,), {})
