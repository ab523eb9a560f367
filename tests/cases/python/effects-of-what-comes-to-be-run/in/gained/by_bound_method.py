from gained.base import TABLE

add = TABLE.append
add(1)
