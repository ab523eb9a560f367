from ct.ids import new_id, shared


class A:
    id = new_id()


class Shared:
    value = shared()


def numbered(number=new_id()):
    return number


def later():
    return new_id()
