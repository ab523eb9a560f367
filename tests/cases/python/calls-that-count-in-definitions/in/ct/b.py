from ct.ids import new_id, shared


class B:
    id = new_id()
    value = shared()
