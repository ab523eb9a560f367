__global__ void scale_same(float *out, const float *in, int count) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  int step = blockDim.x * gridDim.x;
  for (; at < count; at += step) {
    float value = in[at];
    if (value > 0.0f) {
      out[at] = value * 2.0f;
    } else {
      out[at] = value * 0.5f;
    }
  }
}

__global__ void right_only(float *out) {
  out[0] = sqrtf(out[1]);
}

__global__ void +_only(float *out) {
  out[0] = out[2];
}
