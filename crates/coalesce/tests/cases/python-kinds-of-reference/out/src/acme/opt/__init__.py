from ..core.devices import Pool, main
