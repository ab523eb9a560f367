from effects.base import ONE

if ONE:
    X = 1
