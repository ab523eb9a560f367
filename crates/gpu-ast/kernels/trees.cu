// The kernels of `trees.wgsl` for CUDA: compile by NVRTC, launch with one thread for each place of
// `[first, end)`. Words are those of `AstTensors::to_words`.

static __device__ unsigned mix_word(unsigned hash, unsigned word) {
    word *= 0xcc9e2d51u;
    word = (word << 15) | (word >> 17);
    hash ^= word * 0x1b873593u;
    hash = (hash << 13) | (hash >> 19);
    hash = hash * 5u + 0xe6546b64u;
    hash = (hash ^ (hash >> 16)) * 0x85ebca6bu;
    hash = (hash ^ (hash >> 13)) * 0xc2b2ae35u;
    return hash ^ (hash >> 16);
}

static const unsigned HEAD = 4u;
static const unsigned NONE = 0xffffffffu;

// Adds the nodes of each kind to `counts`, which has `kinds` numbers.
extern "C" __global__ void count_kinds(const unsigned *words, unsigned *counts, unsigned first,
                                       unsigned end, unsigned kinds) {
    unsigned node = first + blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= end) {
        return;
    }
    unsigned kind = words[HEAD + node];
    if (kind < kinds) {
        atomicAdd(&counts[kind], 1u);
    }
}

// Hashes of the nodes of one level, those at `[first, end)` in the order by depth; the levels below it
// are done. `hashes` has two words a node.
extern "C" __global__ void hash_level(const unsigned *words, unsigned *hashes, unsigned nodes,
                                      unsigned first, unsigned end) {
    unsigned place = first + blockIdx.x * blockDim.x + threadIdx.x;
    if (place >= end) {
        return;
    }
    unsigned node = words[HEAD + 9u * nodes + place];
    unsigned kind = words[HEAD + node];
    unsigned low = mix_word(mix_word(0x9e3779b9u, kind), words[HEAD + 5u * nodes + node]);
    unsigned high = mix_word(mix_word(0x85ebca6bu, kind), words[HEAD + 6u * nodes + node]);
    for (unsigned child = words[HEAD + 2u * nodes + node]; child != NONE;
         child = words[HEAD + 3u * nodes + child]) {
        low = mix_word(low, hashes[2u * child]);
        high = mix_word(high, hashes[2u * child + 1u]);
    }
    hashes[2u * node] = low;
    hashes[2u * node + 1u] = high;
}
