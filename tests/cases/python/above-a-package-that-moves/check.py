from gpubench import run
from gpubench.deep import place
assert (run.conf(), run.joined(), run.own(), run.OWN, place.OWN, place.conf()) == ("hello", "hello", "own", "own", "own", "hello")
