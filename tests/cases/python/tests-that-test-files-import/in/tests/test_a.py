from tc.common import Helper, TestContract, test_shared


class TestList(TestContract):
    factory = list
