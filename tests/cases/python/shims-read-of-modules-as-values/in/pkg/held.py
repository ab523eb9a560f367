import pkg

ops = pkg.plain
