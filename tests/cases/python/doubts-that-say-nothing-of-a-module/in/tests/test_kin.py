from kin import kinematics
from kin import kinematics as short


def test_same():
    assert short is kinematics
