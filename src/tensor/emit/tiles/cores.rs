//! Products by tensor cores: fragments of each warp, and the way of their sums to the threads of points.
//!
//! CUDA leaves open which thread holds which element of a fragment, so that sums go through shared memory, where the boxes of
//! the last strip are no longer needed.

use super::{Tiled, reducing_part};
use crate::tensor::emit::kernels::Lines;
use crate::tensor::transform::tiles::cores::{Cores, FRAGMENT};

/// The names of both sides of a fragment.
const USES: [&str; 2] = ["left", "right"];

impl Tiled<'_> {
    /// Boxes and sums, which take the same bytes.
    pub(super) fn declare_matrices(&self, cores: &Cores, lines: &mut Lines) {
        let all = self.tiles.promoted.iter().enumerate();
        let (mut texts, mut offset) = (Vec::new(), 0);
        for (number, promoted) in all {
            let scalar = self.function.tensors[promoted.tensor].scalar;
            let (cuda, extents) = (scalar.cuda(), self.box_extents(number));
            texts.push(format!(
                "{cuda} (&tc_{}){extents} = *reinterpret_cast<{cuda} (*){extents}>(tc_shared + {offset});",
                self.tile_name(number)
            ));
            let bytes = promoted.elements() * usize::try_from(scalar.bytes()).unwrap_or(8);
            offset += (bytes * self.tiles.stages).next_multiple_of(32);
        }
        let extents = format!("[{}][{}]", cores.points(0), cores.pitch());
        texts.push(format!(
            "float (&tc_sums){extents} = *reinterpret_cast<float (*){extents}>(tc_shared);"
        ));
        let bytes = offset.max(usize::try_from(cores.sum_bytes()).unwrap_or(usize::MAX));
        lines.line(&format!(
            "__shared__ __align__(32) unsigned char tc_shared[{bytes}];"
        ));
        texts.iter().for_each(|text| lines.line(text));
    }

    /// The sum of a point.
    pub(super) fn sum(&self, cores: &Cores) -> String {
        let places = cores.sides.map(|side| {
            let local = self.local(side).unwrap_or_else(|| "0".to_owned());
            format!("[{local}]")
        });
        format!("tc_sums{}", places.concat())
    }

    /// Sums of all points of the tile, in shared memory.
    pub(super) fn sum_up(&self, cores: &Cores, lines: &mut Lines) {
        let depth = lines.depth;
        lines.open("");
        let [warps, fragments] = [cores.warps, cores.fragments];
        let place = |side: usize| match (warps[side], side) {
            (1, _) => "0".to_owned(),
            (_, 0) => format!("threadIdx.x / {}", 32 * warps[1]),
            (count, _) => format!("threadIdx.x / 32 % {count}"),
        };
        for (side, name) in ["row", "column"].into_iter().enumerate() {
            lines.line(&format!(
                "const int tc_{name} = {} * {};",
                place(side),
                fragments[side] * FRAGMENT
            ));
        }
        lines.line(&format!(
            "nvcuda::wmma::fragment<nvcuda::wmma::accumulator, {FRAGMENT}, {FRAGMENT}, {FRAGMENT}, float> tc_sum[{}][{}];",
            fragments[0], fragments[1]
        ));
        let inside = lines.depth;
        each_fragment(fragments, lines);
        lines.line("nvcuda::wmma::fill_fragment(tc_sum[tc_i][tc_j], 0.0f);");
        lines.close_to(inside);
        self.strips(reducing_part(self), lines, &|lines| {
            self.multiply(cores, lines)
        });
        lines.close_to(inside);
        if self.tiles.stages > 1 {
            lines.line("__syncthreads();");
        }
        each_fragment(fragments, lines);
        lines.line(&format!(
            "nvcuda::wmma::store_matrix_sync(&tc_sums[tc_row + {FRAGMENT} * tc_i][tc_column + {FRAGMENT} * tc_j], tc_sum[tc_i][tc_j], {}, nvcuda::wmma::mem_row_major);",
            cores.pitch()
        ));
        lines.close_to(inside);
        lines.line("__syncthreads();");
        lines.close_to(depth);
    }

    /// The products of a strip.
    fn multiply(&self, cores: &Cores, lines: &mut Lines) {
        let depth = lines.depth;
        let count = self.tiles.strip.count;
        if count > FRAGMENT {
            lines.line("#pragma unroll");
        }
        lines.open(&format!(
            "for (int tc_step = 0; tc_step < {count}; tc_step += {FRAGMENT})"
        ));
        let inside = lines.depth;
        for (side, factor) in cores.factors.iter().enumerate() {
            let promoted = &self.tiles.promoted[factor.promoted];
            // Rows of a fragment are rows of the left matrix and of the right one.
            let layout = match factor.has_rows_of_terms() == (side == 0) {
                true => "row_major",
                false => "col_major",
            };
            let cuda = self.function.tensors[promoted.tensor].scalar.cuda();
            lines.line(&format!(
                "nvcuda::wmma::fragment<nvcuda::wmma::matrix_{}, {FRAGMENT}, {FRAGMENT}, {FRAGMENT}, {cuda}, nvcuda::wmma::{layout}> tc_{}[{}];",
                ["a", "b"][side],
                USES[side],
                cores.fragments[side]
            ));
            let counter = ["tc_i", "tc_j"][side];
            let first = ["tc_row", "tc_column"][side];
            let places = promoted.order().into_iter().map(|dimension| {
                if dimension == factor.points {
                    format!("[{first} + {FRAGMENT} * {counter}]")
                } else if dimension == factor.terms {
                    "[tc_step]".to_owned()
                } else {
                    "[0]".to_owned()
                }
            });
            lines.line("#pragma unroll");
            lines.line(&format!(
                "for (int {counter} = 0; {counter} < {}; ++{counter})",
                cores.fragments[side]
            ));
            lines.line(&format!(
                "    nvcuda::wmma::load_matrix_sync(tc_{}[{counter}], &tc_{}{}{}, {});",
                USES[side],
                self.tile_name(factor.promoted),
                self.stage(),
                places.collect::<String>(),
                promoted.extents[promoted.inner] + promoted.padding
            ));
        }
        each_fragment(cores.fragments, lines);
        lines.line(
            "nvcuda::wmma::mma_sync(tc_sum[tc_i][tc_j], tc_left[tc_i], tc_right[tc_j], tc_sum[tc_i][tc_j]);",
        );
        lines.close_to(inside);
        lines.close_to(depth);
    }
}

/// Loops over the fragments of a warp; the caller closes them.
fn each_fragment(fragments: [usize; 2], lines: &mut Lines) {
    for (counter, count) in ["tc_i", "tc_j"].into_iter().zip(fragments) {
        lines.line("#pragma unroll");
        lines.open(&format!(
            "for (int {counter} = 0; {counter} < {count}; ++{counter})"
        ));
    }
}
