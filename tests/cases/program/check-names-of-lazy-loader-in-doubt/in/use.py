from alias import A, C
from comp import A, C, core
from cond_table2 import A, B, Z
from dictkw import A, C
from dirs import A, B
from func import A, C
from ior import A, B
from kwargs import A
from later_table import A, B
from passed import A, C
from rebound import A, Z
from setdefault import A, C
from shadow_table import A, B
from starargs import A
from stub_as import A, B2, B, Z
from stub_nested_def import A, B
from stub_other import A, B, Z
from text_entry import A, B, C
from updatekw import A, C
