from p.gone import x
print "no parentheses"
