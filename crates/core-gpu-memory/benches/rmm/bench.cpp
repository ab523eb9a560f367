// RMM's pool at the cases of the memory bench: the same lengths in the same order. Prints lines of a
// case, nanoseconds for one allocation with its free, and the memory that it needed at the peak.

#include <rmm/mr/device/cuda_memory_resource.hpp>
#include <rmm/mr/device/pool_memory_resource.hpp>
#include <rmm/mr/device/statistics_resource_adaptor.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace {

using Upstream = rmm::mr::cuda_memory_resource;
using Pool     = rmm::mr::pool_memory_resource<Upstream>;
using Counting = rmm::mr::statistics_resource_adaptor<Pool>;
using Clock    = std::chrono::steady_clock;

constexpr int rounds               = 7;
constexpr std::uint64_t operations = 300000;
constexpr std::size_t device       = std::size_t{4} << 30;
constexpr std::size_t alignment    = 256;

// The generator of the crate's tests.
class Rng {
 public:
  explicit Rng(std::uint64_t seed) : state_{(seed + 1) * 0x9E3779B97F4A7C15ULL | 1} {}
  std::uint64_t below(std::uint64_t bound)
  {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return ((state_ * 0x2545F4914F6CDD1DULL) >> 11) % bound;
  }

 private:
  std::uint64_t state_;
};

struct Block {
  void* address;
  std::size_t bytes;
};

double each(Clock::time_point start, std::uint64_t count)
{
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count() / count;
}

rmm::cuda_stream_view stream() { return rmm::cuda_stream_view{reinterpret_cast<cudaStream_t>(64)}; }

template <typename Resource>
std::vector<Block> punch(Resource& pool, int holes)
{
  Rng rng{7};
  std::vector<Block> blocks, kept;
  for (int i = 0; i < holes * 2; ++i) {
    std::size_t bytes = 1500 + rng.below(2000);
    blocks.push_back({pool.allocate_async(bytes, alignment, stream()), bytes});
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (i % 2 == 0) {
      kept.push_back(blocks[i]);
    } else {
      pool.deallocate_async(blocks[i].address, blocks[i].bytes, alignment, stream());
    }
  }
  return kept;
}

template <typename Resource>
double pairs(Resource& pool, std::size_t bytes, int holes)
{
  auto kept   = punch(pool, holes);
  double best = 1e18;
  // Where holes make it slow, fewer operations tell as much.
  std::uint64_t count = holes > 1000 ? operations / 100 : operations;
  for (int round = 0; round < rounds; ++round) {
    auto start = Clock::now();
    for (std::uint64_t i = 0; i < count; ++i) {
      void* address = pool.allocate_async(bytes, alignment, stream());
      asm volatile("" : "+r"(address) : : "memory");
      pool.deallocate_async(address, bytes, alignment, stream());
    }
    best = std::min(best, each(start, count));
  }
  for (auto& block : kept) {
    pool.deallocate_async(block.address, block.bytes, alignment, stream());
  }
  return best;
}

// The length of the next request, and whether something goes first.
std::pair<std::size_t, bool> next(std::string const& trace, Rng& rng, std::uint64_t step, std::size_t live)
{
  bool full = live >= 1000;
  if (trace == "random") {
    std::size_t bytes = 1 + rng.below(1 << 20);
    return {bytes, full || rng.below(2) == 0};
  }
  if (trace == "grow-shrink") {
    std::uint64_t goes = (step / 2000) % 2 == 1 ? 7 : 1;
    std::size_t bytes  = 1 + rng.below(256 << 10);
    return {bytes, full || rng.below(8) < goes};
  }
  std::size_t bytes = 1 + rng.below(std::uint64_t{1} << (10 + (step / 5000) % 11));
  return {bytes, full || rng.below(2) == 0};
}

std::pair<double, std::uint64_t> follow(Pool& pool, std::string const& trace)
{
  Rng rng{11};
  std::vector<Block> live;
  live.reserve(1001);
  std::uint64_t bytes = 0, peak = 0;
  auto start = Clock::now();
  for (std::uint64_t step = 0; step < operations; ++step) {
    auto [length, frees] = next(trace, rng, step, live.size());
    if (frees && !live.empty()) {
      std::size_t place = rng.below(live.size());
      Block block       = live[place];
      live[place]       = live.back();
      live.pop_back();
      bytes -= block.bytes;
      pool.deallocate_async(block.address, block.bytes, alignment, stream());
    } else {
      live.push_back({pool.allocate_async(length, alignment, stream()), length});
      bytes += length;
      peak = std::max(peak, bytes);
    }
  }
  double taken = each(start, operations) * 2.0;
  for (auto& block : live) {
    pool.deallocate_async(block.address, block.bytes, alignment, stream());
  }
  return {taken, peak};
}

void say(char const* name, double nanoseconds, double ratio)
{
  std::printf("%s\t%.1f\t%.2f\n", name, nanoseconds, ratio);
  std::fflush(stdout);
}

void run(std::string const& name)
{
  Upstream upstream;
  Pool pool{&upstream, std::size_t{256} << 20, device};
  if (name == "hit") {
    say("hit", pairs(pool, 1000, 0), 0);
  } else if (name == "hit-accounted") {
    Counting counting{&pool};
    say("hit-accounted", pairs(counting, 1000, 0), 0);
  } else if (name == "holes-1000") {
    say("holes-1000", pairs(pool, 1000, 1000), 0);
  } else if (name == "holes-100000") {
    say("holes-100000", pairs(pool, 1000, 100000), 0);
  } else if (name == "cold-holes-1000") {
    say("cold-holes-1000", pairs(pool, 300000, 1000), 0);
  } else {
    double best        = 1e18;
    std::uint64_t peak = 0;
    for (int round = 0; round < rounds; ++round) {
      auto [taken, most] = follow(pool, name);
      best               = std::min(best, taken);
      peak               = most;
    }
    say(name.c_str(), best, static_cast<double>(pool.pool_size()) / peak);
  }
}

}  // namespace

int main(int count, char** names)
{
  for (int i = 1; i < count; ++i) {
    run(names[i]);
  }
}
