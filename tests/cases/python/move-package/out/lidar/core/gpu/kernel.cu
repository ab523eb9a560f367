__global__ void add() {}
