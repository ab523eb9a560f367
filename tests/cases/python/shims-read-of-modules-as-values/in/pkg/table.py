import pkg

ops = pkg.maths
