from effects.base import ONE

[*X] = ONE
