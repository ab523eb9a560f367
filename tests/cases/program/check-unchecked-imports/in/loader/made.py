class Made: pass
