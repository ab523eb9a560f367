from lab.timers import Kind, LapTimer
from lab.timers2 import Sort, Timer

print(LapTimer().laps == Timer().laps, Kind.A == Sort.A)
