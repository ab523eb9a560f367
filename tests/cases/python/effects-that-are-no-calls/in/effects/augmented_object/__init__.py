from effects.base import ONE

ONE += 1
