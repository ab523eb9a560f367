import pkg.run as runner
