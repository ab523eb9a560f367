from effects.base import ONE

X = f'{ONE:x}'
