X = list(map(print, 'ab'))
