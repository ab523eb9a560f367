// A runtime without a device: addresses are numbers that nobody reads, and events cost nothing, which
// flatters what is measured on it. And the few functions of RMM that its headers only declare.

#include <cuda_runtime_api.h>

#include <rmm/aligned.hpp>
#include <rmm/cuda_device.hpp>
#include <rmm/cuda_stream_view.hpp>
#include <rmm/error.hpp>
#include <rmm/logger.hpp>

#include <cstdint>

namespace {
std::uintptr_t next_address = std::uintptr_t{1} << 40;
}

extern "C" {
cudaError_t cudaMalloc(void** to, size_t bytes)
{
  *to = reinterpret_cast<void*>(next_address);
  next_address += (bytes + 4095) / 4096 * 4096;
  return cudaSuccess;
}
cudaError_t cudaFree(void*) { return cudaSuccess; }
cudaError_t cudaGetLastError() { return cudaSuccess; }
char const* cudaGetErrorName(cudaError_t) { return "none"; }
char const* cudaGetErrorString(cudaError_t) { return "none"; }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned)
{
  *event = reinterpret_cast<cudaEvent_t>(8);
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }
}

namespace rmm {
std::size_t align_up(std::size_t value, std::size_t alignment) noexcept
{
  return (value + alignment - 1) & ~(alignment - 1);
}
bool is_aligned(std::size_t value, std::size_t alignment) noexcept
{
  return (value & (alignment - 1)) == 0;
}
cuda_device_id get_current_cuda_device() { return cuda_device_id{0}; }
int get_num_cuda_devices() { return 1; }

cuda_stream_view::cuda_stream_view(cudaStream_t stream) noexcept : stream_{stream} {}
cuda_stream_view::cuda_stream_view(cuda::stream_ref stream) noexcept : stream_{stream.get()} {}
cudaStream_t cuda_stream_view::value() const noexcept { return stream_; }
cuda_stream_view::operator cudaStream_t() const noexcept { return stream_; }
cuda_stream_view::operator cuda::stream_ref() const noexcept { return stream_; }
bool cuda_stream_view::is_default() const noexcept { return stream_ == nullptr; }
bool cuda_stream_view::is_per_thread_default() const noexcept { return stream_ == cudaStreamPerThread; }

bad_alloc::bad_alloc(char const* why) : _what{why} {}
bad_alloc::bad_alloc(std::string const& why) : _what{why} {}
char const* bad_alloc::what() const noexcept { return _what.c_str(); }
out_of_memory::out_of_memory(char const* why) : bad_alloc{why} {}
out_of_memory::out_of_memory(std::string const& why) : bad_alloc{why} {}

rapids_logger::logger& default_logger()
{
  static rapids_logger::logger silent{"rmm", std::vector<rapids_logger::sink_ptr>{}};
  return silent;
}
}  // namespace rmm
