import flat_gone
from flat_old import other
from flat_util import main


def test_it():
    assert main() == other() == flat_gone.A
