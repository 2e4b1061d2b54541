//! Chains of launches whose threads read what other threads of their block wrote: mirrored, rotated, in tiles
//! and rows of which only the run knows the extents, as scalars of several sizes and as vectors, with blocks
//! that are used in part, beside shared memory of the kernels' own, and what looks like it but is not: parts that
//! nobody wrote, other blocks' elements, places and conditions that the data decides.

use super::Case;
use super::host::Scene;
use rand::Rng;
use std::fmt::Write;

/// The kernels, for every type of elements and vectors of them. Where nothing else is said, `out` and `in` are
/// apart.
pub const KERNELS: &str = r#"
__device__ inline short mad(short a, short b, short c) { return (short)(a * b + c); }
__device__ inline unsigned bits(short a) { return (unsigned short)a; }
template <typename V> __device__ inline V all_lanes(int value) { return (V)value; }

#define TWO_LANES(V, T) \
    __device__ inline V mad(V a, V b, V c) { return {mad(a.x, b.x, c.x), mad(a.y, b.y, c.y)}; } \
    __device__ inline unsigned bits(V a) { return bits(a.x) + bits(a.y); } \
    template <> __device__ inline V all_lanes<V>(int value) { return {(T)value, (T)value}; }
#define FOUR_LANES(V, T) \
    __device__ inline V mad(V a, V b, V c) { \
        return {mad(a.x, b.x, c.x), mad(a.y, b.y, c.y), mad(a.z, b.z, c.z), mad(a.w, b.w, c.w)}; \
    } \
    __device__ inline unsigned bits(V a) { return bits(a.x) + bits(a.w); } \
    template <> __device__ inline V all_lanes<V>(int value) { return {(T)value, (T)value, (T)value, (T)value}; }
TWO_LANES(int2, int)
TWO_LANES(uint2, unsigned)
TWO_LANES(float2, float)
TWO_LANES(double2, double)
FOUR_LANES(int4, int)
FOUR_LANES(uint4, unsigned)
FOUR_LANES(float4, float)

// Lines. Each thread's own element, in place or not.
template <typename V> __global__ void hand_own(V *out, const V *in, int n, int wide, int by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = mad(in[i], all_lanes<V>(by), all_lanes<V>(1));
}

template <typename V> __global__ void hand_mirror(V *out, const V *in, int n, int wide, int by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.x * blockDim.x + (blockDim.x - 1 - threadIdx.x);
    if (i < n && j < n) out[i] = mad(in[j], all_lanes<V>(by), in[i]);
}

template <typename V, int FAR> __global__ void hand_turn(V *out, const V *in, int n, int wide, int by) {
    int first = blockIdx.x * blockDim.x, i = first + threadIdx.x, j = first + (threadIdx.x + FAR) % blockDim.x;
    if (i >= n) return;
    out[i] = j < n ? mad(in[j], all_lanes<V>(by), all_lanes<V>(2)) : all_lanes<V>(0);
}

// As far as the run says.
template <typename V> __global__ void hand_turn_by(V *out, const V *in, int n, int wide, int by) {
    unsigned first = blockIdx.x * blockDim.x, j = first + (threadIdx.x + (unsigned)wide) % blockDim.x;
    if ((int)(first + threadIdx.x) < n)
        out[first + threadIdx.x] = (int)j < n ? mad(in[j], all_lanes<V>(by), all_lanes<V>(3)) : all_lanes<V>(1);
}

template <typename V, int MASK> __global__ void hand_swap(V *out, const V *in, int n, int wide, int by) {
    size_t first = (size_t)blockIdx.x * blockDim.x, i = first + threadIdx.x, j = first + (threadIdx.x ^ MASK);
    if ((int)i < n && (int)j < n) out[i] = mad(in[j], all_lanes<V>(by), in[i]);
}

template <typename V> __global__ void hand_around(V *out, const V *in, int n, int wide, int by) {
    int first = blockIdx.x * blockDim.x;
    V sum = all_lanes<V>(by);
    for (int k = 0; k < 3; ++k) {
        int j = first + ((int)threadIdx.x + k) % (int)blockDim.x;
        if (j < n) sum = mad(in[j], all_lanes<V>(by), sum);
    }
    if (first + (int)threadIdx.x < n) out[first + threadIdx.x] = sum;
}

template <typename V> __global__ void hand_first(V *out, const V *in, int n, int wide, int by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = mad(in[blockIdx.x * blockDim.x], all_lanes<V>(by), in[i]);
}

// Whole blocks, even where that is more than there is to do.
template <typename V> __global__ void hand_whole(V *out, const V *in, int n, int wide, int by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = mad(in[i], all_lanes<V>(by), all_lanes<V>(4));
}

template <typename V> __global__ void hand_whole_mirror(V *out, const V *in, int n, int wide, int by) {
    int last = blockIdx.x * blockDim.x + blockDim.x - 1;
    out[last - (int)threadIdx.x] = mad(in[blockIdx.x * blockDim.x + threadIdx.x], all_lanes<V>(by), all_lanes<V>(5));
}

// Parts of what others read; in place or not.
template <typename V> __global__ void hand_even(V *out, const V *in, int n, int wide, int by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && i % 2 == 0) out[i] = mad(in[i], all_lanes<V>(by), all_lanes<V>(6));
}

template <typename V> __global__ void hand_some(V *out, const V *in, int n, int wide, int by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && bits(in[i]) & 4) out[i] = mad(in[i], all_lanes<V>(by), all_lanes<V>(7));
}

template <typename V> __global__ void hand_begin(V *out, const V *in, int n, int wide, int by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < 20 && i < n) out[i] = mad(in[i], all_lanes<V>(by), all_lanes<V>(8));
}

// Other blocks' elements.
template <typename V> __global__ void hand_next(V *out, const V *in, int n, int wide, int by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = i + 1 < n ? mad(in[i + 1], all_lanes<V>(by), in[i]) : in[i];
}

// Shared memory of their own.
template <typename V> __global__ void hand_static(V *out, const V *in, int n, int wide, int by) {
    __shared__ V tile[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = i < n ? in[i] : all_lanes<V>(by);
    __syncthreads();
    if (i < n) out[i] = mad(tile[(threadIdx.x + 9) % blockDim.x], all_lanes<V>(by), tile[threadIdx.x]);
}

template <typename V> __global__ void hand_dynamic(V *out, const V *in, int n, int wide, int by) {
    extern __shared__ int4 raw[];
    V *tile = (V *)raw;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.x * blockDim.x + (blockDim.x - 1 - threadIdx.x);
    tile[threadIdx.x] = j < n ? in[j] : all_lanes<V>(by);
    __syncthreads();
    if (i < n) out[i] = mad(tile[threadIdx.x ^ 1], all_lanes<V>(by), tile[threadIdx.x]);
}

// Four elements a thread: a block's distance apart, next to each other, and from the last on.
template <typename V> __global__ void hand_steps(V *out, const V *in, int n, int wide, int by) {
    int first = blockIdx.x * 4 * blockDim.x;
    for (int k = 0; k < 4; ++k) {
        int i = first + k * (int)blockDim.x + (int)threadIdx.x;
        if (i < n) out[i] = mad(in[i], all_lanes<V>(by), all_lanes<V>(k));
    }
}

template <typename V> __global__ void hand_runs(V *out, const V *in, int n, int wide, int by) {
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    for (int k = 0; k < 4; ++k)
        if (first + k < n) out[first + k] = mad(in[first + k], all_lanes<V>(by), all_lanes<V>(k + 2));
}

template <typename V> __global__ void hand_back(V *out, const V *in, int n, int wide, int by) {
    int first = blockIdx.x * 4 * blockDim.x, all = 4 * blockDim.x;
    for (int k = threadIdx.x; k < all; k += blockDim.x)
        if (first + k < n && first + all - 1 - k < n) out[first + k] = mad(in[first + all - 1 - k], all_lanes<V>(by), in[first + k]);
}

// Rows, `wide` long and `n` apart. In place or not.
template <typename V> __global__ void row_own(V *out, const V *in, int n, int wide, int by) {
    for (int j = threadIdx.x; j < wide; j += blockDim.x)
        out[blockIdx.x * n + j] = mad(in[blockIdx.x * n + j], all_lanes<V>(by), all_lanes<V>(1));
}

template <typename V> __global__ void row_begin(V *out, const V *in, int n, int wide, int by) {
    for (int j = threadIdx.x; j < wide / 2; j += blockDim.x)
        out[blockIdx.x * n + j] = mad(in[blockIdx.x * n + j], all_lanes<V>(by), all_lanes<V>(2));
}

template <typename V> __global__ void row_single(V *out, const V *in, int n, int wide, int by) {
    int j = threadIdx.x;
    if (j < wide) out[blockIdx.x * n + j] = mad(in[blockIdx.x * n + j], all_lanes<V>(by), all_lanes<V>(3));
}

// A loop that runs once at most, as where rows are as long as a block.
template <typename V, int LONG> __global__ void row_once(V *out, const V *in, int n, int wide, int by) {
    for (int j = threadIdx.x; j < LONG; j += LONG)
        if (j < wide) out[blockIdx.x * n + j] = mad(in[blockIdx.x * n + j], all_lanes<V>(by), all_lanes<V>(6));
}

template <typename V> __global__ void row_mirror(V *out, const V *in, int n, int wide, int by) {
    for (int j = threadIdx.x; j < wide; j += blockDim.x)
        out[blockIdx.x * n + j] = mad(in[blockIdx.x * n + wide - 1 - j], all_lanes<V>(by), in[blockIdx.x * n + j]);
}

template <typename V, int FAR> __global__ void row_turn(V *out, const V *in, int n, int wide, int by) {
    const V *own = in + (size_t)blockIdx.x * n;
    for (int j = threadIdx.x; j < wide; j += blockDim.x)
        out[(size_t)blockIdx.x * n + j] = mad(own[(j + FAR) % wide], all_lanes<V>(by), all_lanes<V>(4));
}

template <typename V> __global__ void row_next(V *out, const V *in, int n, int wide, int by) {
    for (int j = threadIdx.x; j < wide; j += blockDim.x)
        out[blockIdx.x * n + j] = j + 1 < wide ? mad(in[blockIdx.x * n + j + 1], all_lanes<V>(by), all_lanes<V>(2)) : all_lanes<V>(by);
}

template <typename V> __global__ void row_sum(V *out, const V *in, int n, int wide, int by) {
    V sum = all_lanes<V>(by);
    for (int j = 0; j < wide; ++j) sum = mad(in[blockIdx.x * n + j], all_lanes<V>(1), sum);
    for (int j = threadIdx.x; j < wide; j += blockDim.x) out[blockIdx.x * n + j] = mad(in[blockIdx.x * n + j], all_lanes<V>(by), sum);
}

// A row times a matrix of small numbers.
template <typename V> __global__ void row_product(V *out, const V *in, int n, int wide, int by) {
    for (int j = threadIdx.x; j < wide; j += blockDim.x) {
        V sum = all_lanes<V>(0);
        for (int k = 0; k < wide; ++k) sum = mad(in[blockIdx.x * n + k], all_lanes<V>((k * 3 + j) % 7), sum);
        out[blockIdx.x * n + j] = sum;
    }
}

template <typename V> __global__ void row_static(V *out, const V *in, int n, int wide, int by) {
    __shared__ V part[256];
    V sum = all_lanes<V>(0);
    for (int j = threadIdx.x; j < wide; j += blockDim.x) sum = mad(in[blockIdx.x * n + j], all_lanes<V>(by), sum);
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] = mad(part[threadIdx.x + half], all_lanes<V>(1), part[threadIdx.x]);
        __syncthreads();
    }
    for (int j = threadIdx.x; j < wide; j += blockDim.x) out[blockIdx.x * n + j] = mad(in[blockIdx.x * n + j], all_lanes<V>(by), part[0]);
}

template <typename V> __global__ void row_dynamic(V *out, const V *in, int n, int wide, int by) {
    extern __shared__ int4 raw[];
    V *tile = (V *)raw;
    for (int first = 0; first < wide; first += blockDim.x) {
        int j = first + threadIdx.x;
        tile[threadIdx.x] = j < wide ? in[blockIdx.x * n + j] : all_lanes<V>(0);
        __syncthreads();
        if (j < wide) out[blockIdx.x * n + j] = mad(tile[blockDim.x - 1 - threadIdx.x], all_lanes<V>(by), tile[threadIdx.x]);
        __syncthreads();
    }
}

// Strips of 16 rows of 32 elements, of which there are `n` rows at most: rows counted in the strip, from its
// first one on, four to a thread, and through shared memory. In place or not.
template <typename V> __global__ void strip_counted(V *out, const V *in, int n, int wide, int by) {
    V *own = out + blockIdx.x * 512;
    int column = threadIdx.x % 32;
    for (int row = threadIdx.x / 32; row < 16; row += blockDim.x / 32)
        own[row << 5 | column] = mad(in[(blockIdx.x << 4 | row) << 5 | column], all_lanes<V>(by), all_lanes<V>(1));
}

template <typename V> __global__ void strip_lines(V *out, const V *in, int n, int wide, int by) {
    int first = blockIdx.x * 16 + threadIdx.x / 32, last = blockIdx.x * 16 + 16;
    for (int row = first; row < last; row += blockDim.x / 32)
        out[row * 32 + threadIdx.x % 32] = mad(in[row * 32 + threadIdx.x % 32], all_lanes<V>(by), all_lanes<V>(2));
}

template <typename V> __global__ void strip_some_lines(V *out, const V *in, int n, int wide, int by) {
    int last = min(n, (int)blockIdx.x * 16 + 16);
    for (int row = blockIdx.x * 16 + threadIdx.x / 32; row < last; row += blockDim.x / 32)
        out[row * 32 + threadIdx.x % 32] = mad(in[row * 32 + threadIdx.x % 32], all_lanes<V>(by), all_lanes<V>(3));
}

template <typename V> __global__ void strip_fours(V *out, const V *in, int n, int wide, int by) {
    unsigned column = threadIdx.x & 31, first = blockIdx.x << 4;
    for (unsigned four = threadIdx.x >> 5; four < 4; four += blockDim.x >> 5)
        for (unsigned k = 0; k < 4; ++k) {
            unsigned at = ((first | four << 2 | k) << 5) | column;
            out[at] = mad(in[at], all_lanes<V>(by), all_lanes<V>(4));
        }
}

template <typename V> __global__ void strip_tile(V *out, const V *in, int n, int wide, int by) {
    __shared__ V tile[16][32];
    for (int row = threadIdx.x / 32; row < 16; row += blockDim.x / 32)
        tile[row][threadIdx.x % 32] = in[(blockIdx.x * 16 + row) * 32 + threadIdx.x % 32];
    __syncthreads();
    V *own = out + (size_t)blockIdx.x * 512;
    for (int row = threadIdx.x / 32; row < 16; row += blockDim.x / 32)
        own[row * 32 + threadIdx.x % 32] = mad(tile[15 - row][threadIdx.x % 32], all_lanes<V>(by), tile[row][31 - threadIdx.x % 32]);
}

template <typename V> __global__ void strip_upside_down(V *out, const V *in, int n, int wide, int by) {
    unsigned column = threadIdx.x & 31;
    for (unsigned row = threadIdx.x >> 5; row < 16; row += blockDim.x >> 5)
        out[(blockIdx.x << 4 | row) << 5 | column] = mad(in[(blockIdx.x << 4 | (15 - row)) << 5 | (column ^ 1)], all_lanes<V>(by), all_lanes<V>(5));
}

template <typename V> __global__ void strip_below(V *out, const V *in, int n, int wide, int by) {
    unsigned column = threadIdx.x & 31;
    for (unsigned row = (threadIdx.x >> 5) * 2; row < 16; row += blockDim.x >> 4)
        for (unsigned k = 0; k < 2; ++k)
            out[(blockIdx.x * 16 + (row | k)) * 32 + column] = mad(in[(blockIdx.x * 16 + ((row + k + 3) & 15)) * 32 + column], all_lanes<V>(by), all_lanes<V>(k));
}

// Tiles of a plane, or of one plane a layer of blocks, each `n` rows of `wide` elements.
template <typename V> __global__ void tile_own(V *out, const V *in, int n, int wide, int by) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= wide || row >= n) return;
    out[(blockIdx.z * n + row) * wide + column] = mad(in[(blockIdx.z * n + row) * wide + column], all_lanes<V>(by), all_lanes<V>(1));
}

// The same place in another way, and the first plane alone.
template <typename V> __global__ void tile_by_layers(V *out, const V *in, int n, int wide, int by) {
    unsigned column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    size_t at = (size_t)blockIdx.z * n * wide + row * wide + column;
    if (column < (unsigned)wide && row < (unsigned)n) out[at] = mad(in[at], all_lanes<V>(by), all_lanes<V>(6));
}

template <typename V> __global__ void tile_first_layer(V *out, const V *in, int n, int wide, int by) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column < wide && row < n && blockIdx.z == 0)
        out[row * wide + column] = mad(in[row * wide + column], all_lanes<V>(by), all_lanes<V>(5));
}

// Tiles are as wide as high.
template <typename V> __global__ void tile_turned(V *out, const V *in, int n, int wide, int by) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    int across = blockIdx.x * blockDim.x + threadIdx.y, down = blockIdx.y * blockDim.y + threadIdx.x;
    if (column < wide && row < n && across < wide && down < n)
        out[(blockIdx.z * n + row) * wide + column] = mad(in[(blockIdx.z * n + down) * wide + across], all_lanes<V>(by), all_lanes<V>(2));
}

template <typename V> __global__ void tile_mirrored(V *out, const V *in, int n, int wide, int by) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    int other = blockIdx.x * blockDim.x + (blockDim.x - 1 - threadIdx.x);
    if (column < wide && row < n && other < wide)
        out[(blockIdx.z * n + row) * wide + column] = mad(in[(blockIdx.z * n + row) * wide + other], all_lanes<V>(by), all_lanes<V>(3));
}

template <typename V> __global__ void tile_upside_down(V *out, const V *in, int n, int wide, int by) {
    const V *plane = in + blockIdx.z * n * wide;
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    int other = blockIdx.y * blockDim.y + (blockDim.y - 1 - threadIdx.y);
    if (column < wide && row < n)
        out[(blockIdx.z * n + row) * wide + column] = other < n ? mad(plane[other * wide + column], all_lanes<V>(by), all_lanes<V>(4)) : all_lanes<V>(by);
}

template <typename V> __global__ void tile_static(V *out, const V *in, int n, int wide, int by) {
    __shared__ V tile[16][17];
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    bool inside = column < wide && row < n;
    tile[threadIdx.y][threadIdx.x] = inside ? in[(blockIdx.z * n + row) * wide + column] : all_lanes<V>(by);
    __syncthreads();
    if (inside) out[(blockIdx.z * n + row) * wide + column] = mad(tile[threadIdx.y][blockDim.x - 1 - threadIdx.x], all_lanes<V>(by), tile[threadIdx.y][threadIdx.x]);
}
"#;

/// What blocks work on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Line,
    Fours,
    Rows,
    Strips,
    Tiles,
}

/// A kernel and what its launch has to heed.
struct Hand {
    name: &'static str,
    /// Behind the type.
    more: &'static str,
    in_place: bool,
    dynamic: bool,
}

const fn hand(name: &'static str) -> Hand {
    Hand {
        name,
        more: "",
        in_place: false,
        dynamic: false,
    }
}

const fn turned(name: &'static str, more: &'static str) -> Hand {
    Hand { more, ..hand(name) }
}

const fn in_place(name: &'static str) -> Hand {
    Hand {
        in_place: true,
        ..hand(name)
    }
}

const fn dynamic(name: &'static str) -> Hand {
    Hand {
        dynamic: true,
        ..hand(name)
    }
}

/// Kernels of one kind of launches: those that keep to their own elements, more often what writes all of them, and
/// those that read others'.
struct Hands {
    own: &'static [Hand],
    others: &'static [Hand],
}

const LINE: Hands = Hands {
    own: &[
        in_place("hand_own"),
        in_place("hand_own"),
        in_place("hand_own"),
        in_place("hand_own"),
        in_place("hand_even"),
        in_place("hand_some"),
        in_place("hand_begin"),
        in_place("hand_whole"),
    ],
    others: &[
        hand("hand_whole_mirror"),
        hand("hand_mirror"),
        hand("hand_mirror"),
        turned("hand_turn", ", 5"),
        turned("hand_turn", ", 31"),
        turned("hand_turn", ", 1"),
        hand("hand_turn_by"),
        turned("hand_swap", ", 1"),
        turned("hand_swap", ", 12"),
        hand("hand_around"),
        hand("hand_first"),
        hand("hand_next"),
        hand("hand_static"),
        dynamic("hand_dynamic"),
    ],
};

const FOURS: Hands = Hands {
    own: &[in_place("hand_steps"), in_place("hand_runs")],
    others: &[hand("hand_back")],
};

const ROWS: Hands = Hands {
    own: &[
        in_place("row_own"),
        in_place("row_own"),
        in_place("row_own"),
        in_place("row_own"),
        in_place("row_single"),
        in_place("row_begin"),
        Hand {
            more: ", 64",
            ..in_place("row_once")
        },
    ],
    others: &[
        hand("row_mirror"),
        hand("row_mirror"),
        turned("row_turn", ", 1"),
        turned("row_turn", ", 7"),
        hand("row_next"),
        hand("row_sum"),
        hand("row_sum"),
        hand("row_product"),
        hand("row_static"),
        dynamic("row_dynamic"),
    ],
};

const STRIPS: Hands = Hands {
    own: &[
        in_place("strip_counted"),
        in_place("strip_lines"),
        in_place("strip_lines"),
        in_place("strip_some_lines"),
        in_place("strip_fours"),
    ],
    others: &[
        hand("strip_tile"),
        hand("strip_tile"),
        hand("strip_upside_down"),
        hand("strip_below"),
    ],
};

const TILES: Hands = Hands {
    own: &[
        in_place("tile_own"),
        in_place("tile_own"),
        in_place("tile_by_layers"),
        in_place("tile_first_layer"),
    ],
    others: &[
        hand("tile_turned"),
        hand("tile_mirrored"),
        hand("tile_upside_down"),
        hand("tile_static"),
    ],
};

impl Case<'_> {
    /// Launches of these kernels, each mostly reads what the one before wrote; some buffers are nobody's
    /// but theirs.
    pub fn handed(&mut self, text: &mut String, scene: &mut Scene) {
        let element = self.element;
        let vector = match element {
            "int" => self.pick(&["int", "int", "short", "int2", "int4"]),
            "unsigned" => self.pick(&["unsigned", "unsigned", "short", "uint2", "uint4"]),
            "float" => self.pick(&["float", "float", "short", "float2", "float4"]),
            _ => self.pick(&["double", "double", "double2"]),
        };
        let own = self.random.random_range(0..3);
        let first_own = scene.pointers.len();
        for index in 0..own {
            let _ = writeln!(
                text,
                "    {element} *own{index}; cudaMalloc(&own{index}, ELEMENTS * sizeof({element})); \
                 cudaMemcpy(own{index}, initial<{element}>({index} + 9), ELEMENTS * sizeof({element}), cudaMemcpyHostToDevice);"
            );
            scene.pointers.push(format!("own{index}"));
        }
        let part = self.pick(&[
            Part::Line,
            Part::Line,
            Part::Line,
            Part::Fours,
            Part::Rows,
            Part::Rows,
            Part::Rows,
            Part::Strips,
            Part::Strips,
            Part::Tiles,
            Part::Tiles,
        ]);
        // Rows that are counted in vectors are too long for what is brought along for each count.
        let vector = match part == Part::Rows && self.chance(0.6) {
            true => element,
            false => vector,
        };
        let threads = self.pick(&["32", "64", "64", "96", "128", "256"]);
        let side = self.pick(&["8", "8", "16"]);
        let mut long = false;
        let (configuration, sizes) = match part {
            Part::Line => (
                format!("(n + {threads} - 1) / {threads}, {threads}"),
                format!("n, {}", self.pick(&["7", "(int)(mix >> 4 & 63)"])),
            ),
            Part::Fours => (
                format!("(n + 4 * {threads} - 1) / (4 * {threads}), {threads}"),
                "n, 0".to_owned(),
            ),
            Part::Rows => {
                long = self.row_sizes(text, vector);
                (format!("rows, {threads}"), "apart, length".to_owned())
            }
            Part::Strips => {
                let strips = self.pick(&["4", "1 + (int)(mix >> 9 & 3)"]);
                let _ = writeln!(
                    text,
                    "    int strips = {strips}, most = 16 * strips - (int)(mix >> 11 & 7);"
                );
                (format!("strips, {threads}"), "most, 0".to_owned())
            }
            Part::Tiles => {
                let (wide, high) = self.tile_sizes(side);
                let layers = self.pick(&["1", "1", "2", "1 + (int)(mix >> 9 & 1)"]);
                let _ = writeln!(
                    text,
                    "    int wide = {wide}, high = {high}, layers = {layers};"
                );
                (
                    format!(
                        "dim3((wide + {side} - 1) / {side}, (high + {side} - 1) / {side}, layers), dim3({side}, {side})"
                    ),
                    "high, wide".to_owned(),
                )
            }
        };
        let streams = self.chance(0.25);
        if streams {
            text.push_str(
                "    cudaStream_t one, two;\n    cudaStreamCreate(&one);\n    cudaStreamCreate(&two);\n\
                 \x20   if (orders_streams || mix >> 10 & 1) two = one;\n",
            );
        }
        let around = self.chance(0.25);
        // Each step may have parts of the buffers, rows of another length as well.
        let stepped = around && !long && part != Part::Tiles && self.chance(0.6);
        if around {
            text.push_str("    for (int step = 0; step < repeat; ++step) {\n");
            scene.depth += 1;
            scene.loops += 1;
        }
        let (configuration, sizes) = match part {
            _ if !stepped => (configuration, sizes),
            Part::Line | Part::Fours => {
                text.push_str("    int few = n < 200 ? n : 200;\n");
                let few = |text: String| text.replacen('n', "few", 1);
                (few(configuration), few(sizes))
            }
            Part::Rows => {
                text.push_str("    int shorter = (length < 128 ? length : 127) - 9 * step;\n");
                let sizes = self.pick(&["132, shorter", "shorter, shorter"]);
                (configuration, sizes.to_owned())
            }
            _ => (
                configuration.replacen("strips", "1", 1),
                sizes.replacen("most", "16 - step", 1),
            ),
        };
        let hands = match part {
            Part::Line => LINE,
            Part::Fours => FOURS,
            Part::Rows => ROWS,
            Part::Strips => STRIPS,
            Part::Tiles => TILES,
        };
        let places: Vec<usize> = (0..scene.pointers.len()).collect();
        let mut input = self.pick(&places);
        for number in 0..self.pick(&[2, 2, 3, 3, 4, 5]) {
            if self.chance(0.05) {
                self.between(text, scene);
            }
            if self.chance(0.1) {
                input = self.pick(&places);
            }
            let choices = match self.chance(if number == 0 { 0.15 } else { 0.65 }) {
                true => hands.others,
                false => hands.own,
            };
            let mut kernel = &choices[self.random.random_range(0..choices.len())];
            // That would take too long.
            if long && kernel.name == "row_product" {
                kernel = &hands.own[0];
            }
            // What nobody else reads is mostly what is handed on.
            let mut output = match own > 0 && self.chance(0.5) {
                true => self.random.random_range(first_own..places.len()),
                false => self.pick(&places),
            };
            while output == input && !kernel.in_place {
                output = self.pick(&places);
            }
            let bytes = match kernel.dynamic {
                true => format!("256 * sizeof({vector})"),
                false => "0".to_owned(),
            };
            let launch = match streams {
                true => format!(", {bytes}, {}", self.pick(&["one", "one", "two"])),
                false if kernel.dynamic => format!(", {bytes}"),
                false => String::new(),
            };
            // A kernel that may work in place does so there and nowhere near.
            let far = match stepped {
                true => self.pick(&["", " + step * 2560", " + step * 2560", " + step * 2560"]),
                false => "",
            };
            let pointer = |place: usize| {
                let name = &scene.pointers[place];
                match vector == element {
                    true => format!("{name}{far}"),
                    false if far.is_empty() => format!("({vector} *){name}"),
                    false => format!("({vector} *)({name}{far})"),
                }
            };
            // Some launches have fewer blocks, or less to do in the same ones.
            let (configuration, sizes) = match part {
                Part::Line | Part::Fours if !stepped && self.chance(0.15) => {
                    let fewer = self.pick(&["n / 2", "n - 1", "n - 70"]);
                    match self.chance(0.7) {
                        true => (
                            configuration.replacen('n', fewer, 1),
                            sizes.replacen('n', fewer, 1),
                        ),
                        false => (configuration.clone(), sizes.replacen('n', fewer, 1)),
                    }
                }
                Part::Rows if self.chance(0.15) => (
                    configuration.replacen("rows", "rows / 2 + 1", 1),
                    sizes.clone(),
                ),
                _ => (configuration.clone(), sizes.clone()),
            };
            let by = self.pick(&["1", "3", "repeat"]);
            let _ = writeln!(
                text,
                "    {}<{vector}{}><<<{configuration}{launch}>>>({}, {}, {sizes}, {by});",
                kernel.name,
                kernel.more,
                pointer(output),
                pointer(input)
            );
            scene.last = Some(output);
            input = output;
        }
        if around {
            text.push_str("    }\n");
            scene.depth -= 1;
            scene.loops -= 1;
        }
        for index in 0..own {
            let _ = writeln!(text, "    cudaFree(own{index});");
        }
        scene.pointers.truncate(first_own);
        scene.last = None;
        scene.budget = 0;
    }

    /// Lengths of rows, mostly of the run. Returns whether they are too long for shared memory.
    fn row_sizes(&mut self, text: &mut String, vector: &str) -> bool {
        let element = self.element;
        let length = self.pick(&[
            "1 + (int)(mix >> 3 & 127)",
            "1 + (int)(mix >> 3 & 127)",
            "100",
            "(mix >> 3 & 1 ? 64 : 300)",
            "0",
        ]);
        if length == "0" {
            // All that there is, in one row or two.
            let _ = writeln!(
                text,
                "    int rows = 1 + (int)(mix >> 12 & 1), length = (int)(ELEMENTS * sizeof({element}) / sizeof({vector})) / rows, apart = length;"
            );
            return true;
        }
        let apart = self.pick(&["length", "length", "length", "length + 5"]);
        let _ = writeln!(
            text,
            "    int length = {length}, apart = {apart}, rows = 1 + (int)(mix >> 12 & 3);"
        );
        false
    }

    /// Extents of a plane of tiles: whole tiles, or not.
    fn tile_sizes(&mut self, side: &str) -> (String, String) {
        match self.random.random_range(0..4) {
            0 => (format!("3 * {side}"), side.to_owned()),
            1 => (
                format!("{side} * (1 + (int)(mix >> 5 & 1))"),
                side.to_owned(),
            ),
            2 => (
                "20 + (int)(mix >> 5 & 15)".to_owned(),
                "9 + (int)(mix >> 11 & 7)".to_owned(),
            ),
            _ => ("24".to_owned(), "9 + (int)(mix >> 11 & 7)".to_owned()),
        }
    }
}
