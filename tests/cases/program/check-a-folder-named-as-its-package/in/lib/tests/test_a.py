import lib.a
import lib.tests
