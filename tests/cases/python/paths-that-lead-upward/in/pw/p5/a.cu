#include "../p5/b.cuh"
#include "b.cuh"
