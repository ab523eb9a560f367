import rlcompleter

COLOUR = "red"
