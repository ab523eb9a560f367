// Histograms of kinds and hashes of subtrees, over the words of a tree (`AstTensors::to_words`): the same
// numbers as `src/analysis.rs`. `trees.spv` is made of this: `naga kernels/trees.wgsl kernels/trees.spv`.

struct Parameters {
    nodes: u32,
    // Places in the order by depth.
    first: u32,
    end: u32,
    // Numbers in the histogram.
    kinds: u32,
}

@group(0) @binding(0) var<storage, read> words: array<u32>;
@group(0) @binding(1) var<storage, read_write> result: array<atomic<u32>>;
@group(0) @binding(2) var<storage, read> parameters: Parameters;

const HEAD: u32 = 4u;
const NONE: u32 = 0xffffffffu;

fn mix_word(before: u32, added: u32) -> u32 {
    var word = added * 0xcc9e2d51u;
    word = (word << 15u) | (word >> 17u);
    var hash = before ^ (word * 0x1b873593u);
    hash = (hash << 13u) | (hash >> 19u);
    hash = hash * 5u + 0xe6546b64u;
    hash = (hash ^ (hash >> 16u)) * 0x85ebca6bu;
    hash = (hash ^ (hash >> 13u)) * 0xc2b2ae35u;
    return hash ^ (hash >> 16u);
}

// Adds the nodes of each kind to `result`.
@compute @workgroup_size(64)
fn count_kinds(@builtin(global_invocation_id) thread: vec3<u32>) {
    let node = parameters.first + thread.x;
    if node >= parameters.end {
        return;
    }
    let kind = words[HEAD + node];
    if kind < parameters.kinds {
        atomicAdd(&result[kind], 1u);
    }
}

// Hashes of the nodes of one level; those below have theirs. Two words of `result` a node.
@compute @workgroup_size(64)
fn hash_level(@builtin(global_invocation_id) thread: vec3<u32>) {
    let place = parameters.first + thread.x;
    if place >= parameters.end {
        return;
    }
    let nodes = parameters.nodes;
    let node = words[HEAD + 9u * nodes + place];
    let kind = words[HEAD + node];
    var low = mix_word(mix_word(0x9e3779b9u, kind), words[HEAD + 5u * nodes + node]);
    var high = mix_word(mix_word(0x85ebca6bu, kind), words[HEAD + 6u * nodes + node]);
    var child = words[HEAD + 2u * nodes + node];
    loop {
        if child == NONE {
            break;
        }
        low = mix_word(low, atomicLoad(&result[2u * child]));
        high = mix_word(high, atomicLoad(&result[2u * child + 1u]));
        child = words[HEAD + 3u * nodes + child];
    }
    atomicStore(&result[2u * node], low);
    atomicStore(&result[2u * node + 1u], high);
}
