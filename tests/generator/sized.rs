//! Launches over the rows of a matrix that agree where lengths are equal, or divide evenly, of which only the
//! run knows: rows by single elements and by vectors, rows at distances, steps over elements that were
//! computed in several ways, fields of structs, warps a row, and single threads beside planes of them.

use super::Case;
use super::host::Scene;
use std::fmt::Write;

/// The kernels, for every type; `out` and `in` are the same pointer or apart.
pub const KERNELS: &str = r#"
template <typename T> struct alignas(4 * sizeof(T)) Four { T at[4]; };

template <typename T> __global__ void row_by_elements(T *out, const T *in, int length, T scale) {
    for (int c = threadIdx.x; c < length; c += blockDim.x)
        out[blockIdx.x * length + c] = mad(in[blockIdx.x * length + c], scale, (T)c);
}

// The host divides the length.
template <typename T> __global__ void row_by_fours(T *out, const T *in, int fours, T scale) {
    for (int c = threadIdx.x; c < fours; c += blockDim.x) {
        Four<T> v = ((const Four<T> *)in)[blockIdx.x * fours + c];
        for (int k = 0; k < 4; ++k) v.at[k] = mad(v.at[k], scale, (T)(k + 1));
        ((Four<T> *)out)[blockIdx.x * fours + c] = v;
    }
}

// The kernel does.
template <typename T> __global__ void row_in_fours(T *out, const T *in, int length, T scale) {
    for (int c = threadIdx.x; c < length / 4; c += blockDim.x) {
        Four<T> v = ((const Four<T> *)in)[blockIdx.x * (length / 4) + c];
        for (int k = 0; k < 4; ++k) v.at[k] = mad(v.at[k], scale, (T)(k + 2));
        ((Four<T> *)out)[blockIdx.x * (length / 4) + c] = v;
    }
}

template <typename T> __global__ void row_at_pitch(T *out, const T *in, int columns, int pitch, T scale) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    if (column < columns) out[row * pitch + column] = mad(in[row * pitch + column], scale, (T)row);
}

template <typename T> __global__ void all_by_grid(T *out, const T *in, int n, T scale) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = mad(in[i], scale, (T)3);
}

template <typename T> __global__ void all_by_step(T *out, const T *in, int n, int step, T scale) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) out[i] = mad(in[i], scale, (T)4);
}

// Warps counted through all blocks, and lines of elements beside them.
template <typename T> __global__ void row_by_warps(T *out, const T *in, int rows, int length, T scale) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= rows) return;
    for (int c = threadIdx.x % 32; c < length; c += 32)
        out[row * length + c] = mad(in[row * length + c], scale, (T)c);
}

template <typename T> __global__ void all_by_line(T *out, const T *in, int n, T scale) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = mad(in[i], scale, (T)5);
}

// One thread.
template <typename T> __global__ void ends(T *out, const T *in, int n, T scale) {
    out[0] = mad(in[0], scale, (T)1);
    out[n - 1] = mad(in[n - 1], scale, (T)2);
}

// Of each struct one field is written and another one read, of the same struct or of the one after next. Numbers may
// be counted past the largest.
template <typename T, int TO, int FROM, int AHEAD>
__global__ void field(T *out, const T *in, unsigned structs, unsigned first, T scale) {
    unsigned i = first + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < structs && i + AHEAD < structs)
        ((Four<T> *)out)[i].at[TO] = mad(((const Four<T> *)in)[i + AHEAD].at[FROM], scale, (T)TO);
}
"#;

impl Case<'_> {
    /// Launches of these kernels, each reads what the one before wrote.
    pub fn sized(&mut self, text: &mut String, scene: &mut Scene) {
        let element = self.element;
        let length = self.pick(&[
            "(mix >> 3 & 1 ? 64 : 62)",
            "4 * (8 + (int)(mix >> 3 & 3))",
            "60 + (int)(mix >> 3 & 7)",
        ]);
        let threads = self.pick(&["32", "64", "128"]);
        let _ = writeln!(
            text,
            "    int length = {length}, rows = 8 + (mix >> 6 & 1), all = rows * length;\n\
             \x20   int other = mix >> 8 & 3 ? length : 48, wide = mix >> 10 & 3 ? 64 : 63;\n\
             \x20   int step = mix >> 12 & 3 ? 2 * {threads} : 256;\n\
             \x20   unsigned first = mix >> 14 & 3 ? 0 : mix >> 16 & 1 ? 4294967280u : 2147483640u;\n\
             \x20   (void)all; (void)other; (void)wide; (void)step; (void)first;\n\
             \x20   dim3 deep(32, 1, mix >> 18 & 3 ? 1 : 2);\n\
             \x20   (void)deep;"
        );
        // Launches of one kind have their threads alike.
        let kinds: &[usize] = self.pick(&[
            &[0, 1],
            &[0, 2],
            &[0, 1, 2],
            &[3],
            &[4, 5],
            &[6],
            &[7, 8],
            &[9, 10],
        ]);
        let places: Vec<usize> = (0..scene.pointers.len()).collect();
        let mut input = self.pick(&places);
        for _ in 0..self.pick(&[2, 2, 3, 4]) {
            let output = self.pick(&places);
            let (out, of) = (&scene.pointers[output], &scene.pointers[input]);
            let own = self.pick(&["length", "length", "other"]);
            let by_rows = format!("<<<rows, {threads}>>>({out}, {of}, ");
            let launch = match self.pick(kinds) {
                0 => format!("row_by_elements<{element}>{by_rows}{own}"),
                1 => format!("row_by_fours<{element}>{by_rows}{own} / 4"),
                2 => format!("row_in_fours<{element}>{by_rows}{own}"),
                3 => {
                    let pitch = self.pick(&["64", "wide", "length", "other"]);
                    let grid = "<<<dim3(1, rows), 32>>>";
                    format!("row_at_pitch<{element}>{grid}({out}, {of}, 32, {pitch}")
                }
                4 => format!("all_by_grid<{element}><<<2, {threads}>>>({out}, {of}, all"),
                5 => format!("all_by_step<{element}><<<2, {threads}>>>({out}, {of}, all, step"),
                7 => {
                    let grid = format!("<<<(32 * rows + {threads} - 1) / {threads}, {threads}>>>");
                    format!("row_by_warps<{element}>{grid}({out}, {of}, rows, {own}")
                }
                8 => format!("all_by_line<{element}><<<(all + 95) / 96, 96>>>({out}, {of}, all"),
                9 => {
                    // In place, the threads of a second plane would read what those of the first have written.
                    let block = if out == of { "32" } else { "deep" };
                    format!(
                        "row_at_pitch<{element}><<<dim3(1, rows), {block}>>>({out}, {of}, 32, length"
                    )
                }
                10 => format!("ends<{element}><<<1, 1>>>({out}, {of}, all"),
                _ => {
                    let field = self.pick(&["0, 1, 0", "2, 3, 0", "1, 3, 0", "3, 2, 2"]);
                    let grid = format!("<<<(all / 4 + {threads} - 1) / {threads}, {threads}>>>");
                    format!("field<{element}, {field}>{grid}({out}, {of}, all / 4, first")
                }
            };
            let _ = writeln!(text, "    {launch}, ({element})3);");
            scene.last = Some(output);
            input = output;
        }
        scene.budget = 0;
    }
}
