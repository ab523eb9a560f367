from effects.tools_helper_for_calls import opened


class Reader:
    @opened()
    def load(self, name):
        return name
