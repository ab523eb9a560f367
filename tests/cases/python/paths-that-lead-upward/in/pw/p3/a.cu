#include "../common/c.cuh"
