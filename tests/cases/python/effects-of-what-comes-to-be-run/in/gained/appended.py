from gained.base import TABLE

TABLE.append('a')
