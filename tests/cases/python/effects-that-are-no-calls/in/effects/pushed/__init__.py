import heapq

from effects.base import TABLE

X = heapq.heappush(TABLE, 'b')
