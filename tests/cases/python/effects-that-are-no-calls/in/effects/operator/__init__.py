from effects.base import ONE

ONE << 'ops'
