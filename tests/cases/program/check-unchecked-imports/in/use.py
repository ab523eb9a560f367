import lazy.here
import lazy.gone
import lazy.gone.below
from lazy.gone import anything
from lazy import made_at_run_time
from lazy import __version__
import loader.gone
import spread.elsewhere
import six.moves
from six.moves import range
import six.old.below
import six.older
import many.gone


def late():
    from lazy import another

    return another
