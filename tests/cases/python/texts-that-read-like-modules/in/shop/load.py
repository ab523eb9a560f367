import pickle

_RENAMED = {("shop.model", "Net"): ("shop.model", "Model")}


class _Unpickler(pickle.Unpickler):
    def find_class(self, module, name):
        module, name = _RENAMED.get((module, name), (module, name))
        return super().find_class(module, name)
