from gained.base import TABLE


class K:
    TABLE.append('k')
