//! Boxes on their way from device memory to shared memory.
//!
//! A box that is all inside of its tensor is loaded without a question; dimensions of which it has whole rows are then one.
//! Else each element is asked for, and is 0 outside.

use super::Tiled;
use crate::tensor::emit::kernels::Lines;
use crate::tensor::emit::values::{self, bracketed};
use crate::tensor::emit::{factor, size};
use crate::tensor::transform::Promoted;
use crate::tensor::transform::tiles::reducing;
use crate::tensor::types::Scalar;
use std::ops::Range;

/// A box, as the code that loads it sees it.
struct Load<'t> {
    tiled: &'t Tiled<'t>,
    number: usize,
    promoted: &'t Promoted,
    /// Where it begins in each dimension of the tensor.
    origins: Vec<String>,
}

impl Tiled<'_> {
    /// Loads a box.
    pub(super) fn promote(&self, number: usize, lines: &mut Lines) {
        let promoted = &self.tiles.promoted[number];
        let statement = reducing(self.kernel, self.tiles);
        let forms = promoted.subscripts.iter();
        let load = Load {
            tiled: self,
            number,
            promoted,
            origins: forms
                .map(|form| values::form(self.function, statement, form))
                .collect(),
        };
        if promoted.conditional {
            load.element_by_element(lines);
            return;
        }
        let mut conditions = Vec::new();
        if self.may_be_partial() {
            conditions.push("tc_full".to_owned());
        }
        if !self.tiles.strip.is_always_full() {
            conditions.push(format!("tc_steps == {}", self.tiles.strip.count));
        }
        let groups = load.groups();
        let by_four = load.by_four(&groups);
        conditions.extend(by_four.clone());
        if conditions.is_empty() {
            return load.whole(&groups, false, lines);
        }
        let depth = lines.depth;
        lines.open(&format!("if ({})", conditions.join(" && ")));
        load.whole(&groups, by_four.is_some(), lines);
        lines.close_to(depth);
        lines.open("else");
        load.element_by_element(lines);
        lines.close_to(depth);
    }

    /// Sets to 0 what points beyond the last one read, where no load ever writes.
    pub(super) fn clear_behind(&self, lines: &mut Lines) {
        let all = self.tiles.promoted.iter().enumerate();
        for (number, promoted) in all.filter(|(_, promoted)| !promoted.resident) {
            let pairs = promoted.extents.iter().zip(&promoted.loaded);
            let behind = pairs.enumerate().filter(|(_, (all, loaded))| all > loaded);
            for (dimension, (all, loaded)) in behind {
                let mut extents = promoted.extents.clone();
                extents[dimension] = all - loaded;
                let load = Load {
                    tiled: self,
                    number,
                    promoted,
                    origins: Vec::new(),
                };
                let depth = lines.depth;
                load.share_out(extents.iter().product(), lines);
                let groups = singles(extents.len());
                load.digits(&extents, &groups, 1, lines);
                let place = load.shared(&groups, &|other| match other == dimension {
                    true if all - loaded == 1 => loaded.to_string(),
                    true => format!("{loaded} + tc_{other}"),
                    false => format!("tc_{other}"),
                });
                let scalar = self.function.tensors[promoted.tensor].scalar;
                lines.line(&format!("{place} = {};", zero(scalar)));
                lines.close_to(depth);
            }
        }
    }
}

/// Each dimension by itself.
fn singles(rank: usize) -> Vec<Range<usize>> {
    (0..rank)
        .map(|dimension| dimension..dimension + 1)
        .collect()
}

fn zero(scalar: Scalar) -> String {
    format!("static_cast<{}>(0)", scalar.cuda())
}

impl Load<'_> {
    /// Dimensions that are one in a box that is inside: both memories have its elements one behind the other.
    fn groups(&self) -> Vec<Range<usize>> {
        let promoted = self.promoted;
        let rank = promoted.extents.len();
        let extents = &self.tiled.function.tensors[promoted.tensor].extents;
        let is_whole_row = |dimension: usize| {
            let extent = extents[dimension].as_number();
            extent.and_then(|extent| usize::try_from(extent).ok())
                == Some(promoted.loaded[dimension])
                && promoted.extents[dimension] == promoted.loaded[dimension]
        };
        let is_apart = |dimension: usize| {
            dimension == promoted.inner && (dimension + 1 < rank || promoted.padding > 0)
        };
        let mut groups: Vec<Range<usize>> = Vec::new();
        for dimension in (0..rank).rev() {
            match groups.as_mut_slice() {
                [group]
                    if group.clone().all(is_whole_row)
                        && !is_apart(dimension)
                        && !group.clone().any(is_apart)
                        && promoted.extents[dimension] == promoted.loaded[dimension] =>
                {
                    group.start = dimension;
                }
                _ => groups.push(dimension..dimension + 1),
            }
        }
        groups.reverse();
        groups
    }

    /// Under which condition the last dimensions are loaded by four floats, if ever.
    fn by_four(&self, groups: &[Range<usize>]) -> Option<String> {
        let group = groups.last()?;
        let tensor = &self.tiled.function.tensors[self.promoted.tensor];
        let elements: usize = self.promoted.loaded[group.clone()].iter().product();
        (tensor.scalar == Scalar::Float && elements.is_multiple_of(4)).then(|| {
            let row: Vec<String> = match group.len() {
                1 => vec![size(self.tiled.function, &tensor.extents[group.start])],
                _ => (tensor.extents[group.clone()].iter())
                    .map(|extent| factor(self.tiled.function, extent))
                    .collect(),
            };
            let (origin, row) = (self.origin(group), row.join(" * "));
            format!("tc_by_four({}, {origin}, {row})", tensor.name)
        })
    }

    /// Where the box begins along dimensions that are one.
    fn origin(&self, group: &Range<usize>) -> String {
        let extents = &self.tiled.function.tensors[self.promoted.tensor].extents;
        let mut place = self.origins[group.start].clone();
        let behind = group.start + 1..group.end;
        for (extent, origin) in extents[behind.clone()].iter().zip(&self.origins[behind]) {
            let extent = factor(self.tiled.function, extent);
            place = format!("{} * {extent} + {}", bracketed(&place), bracketed(origin));
        }
        place
    }

    /// The element of the tensor that the names of dimensions say.
    fn element(&self, groups: &[Range<usize>]) -> String {
        let tensor = &self.tiled.function.tensors[self.promoted.tensor];
        let mut place = String::new();
        for group in groups {
            let elements: usize = self.promoted.loaded[group.clone()].iter().product();
            let origin = self.origin(group);
            let subscript = match elements {
                1 => origin,
                _ => format!("{origin} + tc_{}", group.start),
            };
            place = match place.is_empty() {
                true => subscript,
                false => {
                    let extents = tensor.extents[group.clone()].iter();
                    let extents: Vec<String> = extents
                        .map(|extent| factor(self.tiled.function, extent))
                        .collect();
                    format!(
                        "{} * {} + {}",
                        bracketed(&place),
                        match extents.as_slice() {
                            [only] => only.clone(),
                            several => format!("({})", several.join(" * ")),
                        },
                        bracketed(&subscript)
                    )
                }
            };
        }
        format!("{}[{place}]", tensor.name)
    }

    /// The same element in shared memory; `along` has the names of dimensions.
    fn shared(&self, groups: &[Range<usize>], along: &dyn Fn(usize) -> String) -> String {
        let promoted = self.promoted;
        let group_of = |dimension: usize| {
            let mut groups = groups.iter();
            groups.find(|group| group.contains(&dimension) && group.len() > 1)
        };
        let order = promoted.order();
        let places = order.iter().map(|dimension| {
            match (promoted.extents[*dimension], group_of(*dimension)) {
                (1, _) | (_, Some(_)) => "[0]".to_owned(),
                (_, None) => format!("[{}]", along(*dimension)),
            }
        });
        let first = format!(
            "tc_{}{}",
            self.tiled.tile_name(self.number),
            places.collect::<String>()
        );
        let Some(group) = groups.iter().find(|group| group.len() > 1) else {
            return first;
        };
        // How far apart elements of these dimensions are.
        let behind = order
            .iter()
            .skip_while(|dimension| **dimension != group.end - 1)
            .skip(1);
        let step: usize = behind
            .map(|dimension| {
                let padding = match *dimension == promoted.inner {
                    true => promoted.padding,
                    false => 0,
                };
                promoted.extents[*dimension] + padding
            })
            .product();
        let at = along(group.start);
        match step {
            1 => format!("(&{first})[{at}]"),
            _ => format!("(&{first})[{} * {step}]", bracketed(&at)),
        }
    }

    /// The name of a dimension in [`Self::digits`].
    fn along(&self, groups: &[Range<usize>], dimension: usize) -> String {
        let mut groups = groups.iter();
        let group = groups.find(|group| group.contains(&dimension));
        let elements = group.map_or(1, |group| {
            self.promoted.loaded[group.clone()].iter().product()
        });
        match elements {
            1 => "0".to_owned(),
            _ => format!("tc_{dimension}"),
        }
    }

    /// Which element of the box a thread loads: neighbours load neighbours.
    fn digits(&self, extents: &[usize], groups: &[Range<usize>], width: usize, lines: &mut Lines) {
        let count = |group: &Range<usize>| extents[group.clone()].iter().product::<usize>();
        let mut behind = 1;
        for (position, group) in groups.iter().enumerate().rev() {
            let (extent, factor) = match position + 1 == groups.len() {
                true => (count(group) / width, width),
                false => (count(group), 1),
            };
            let is_first = groups[..position].iter().all(|before| count(before) == 1);
            if count(group) > 1 {
                let mut text = "tc_element".to_owned();
                if behind > 1 {
                    text += &format!(" / {behind}");
                }
                if !is_first {
                    text += &format!(" % {extent}");
                }
                if factor > 1 {
                    text += &format!(" * {factor}");
                }
                lines.line(&format!("const int tc_{} = {text};", group.start));
            }
            behind *= extent;
        }
    }

    /// The loop in which the threads of the block share elements out; the caller closes it.
    fn share_out(&self, count: usize, lines: &mut Lines) {
        let threads = self.tiled.block_threads();
        match count <= threads {
            true if count == threads => {
                lines.open("");
                lines.line("const int tc_element = threadIdx.x;");
            }
            true => {
                lines.open(&format!("if (threadIdx.x < {count})"));
                lines.line("const int tc_element = threadIdx.x;");
            }
            false => {
                lines.line("#pragma unroll");
                lines.open(&format!(
                    "for (int tc_element = threadIdx.x; tc_element < {count}; tc_element += {threads})"
                ));
            }
        }
    }

    /// A box of which all is inside.
    fn whole(&self, groups: &[Range<usize>], by_four: bool, lines: &mut Lines) {
        let promoted = self.promoted;
        let along = |dimension: usize| self.along(groups, dimension);
        let count: usize = promoted.loaded.iter().product();
        let depth = lines.depth;
        let place = self.element(groups);
        if !by_four {
            self.share_out(count, lines);
            self.digits(&promoted.loaded, groups, 1, lines);
            lines.line(&format!("{} = {place};", self.shared(groups, &along)));
            return lines.close_to(depth);
        }
        self.share_out(count / 4, lines);
        self.digits(&promoted.loaded, groups, 4, lines);
        lines.line(&format!(
            "const float4 tc_four = *reinterpret_cast<const float4 *>(&{place});"
        ));
        let last = groups.last().map_or(0, |group| group.start);
        let is_row = groups.last().is_some_and(|group| {
            let row = promoted.extents[promoted.inner] + promoted.padding;
            let is_aligned = group.len() > 1 || row.is_multiple_of(4) || groups.len() == 1;
            group.contains(&promoted.inner) && is_aligned
        });
        match is_row {
            true => lines.line(&format!(
                "*reinterpret_cast<float4 *>(&{}) = tc_four;",
                self.shared(groups, &along)
            )),
            false => {
                for (offset, part) in ["x", "y", "z", "w"].into_iter().enumerate() {
                    let to = self.shared(groups, &|dimension| match (dimension == last, offset) {
                        (true, 1..) => format!("tc_{dimension} + {offset}"),
                        _ => along(dimension),
                    });
                    lines.line(&format!("{to} = tc_four.{part};"));
                }
            }
        }
        lines.close_to(depth);
    }

    /// A box of which some may be outside.
    fn element_by_element(&self, lines: &mut Lines) {
        let promoted = self.promoted;
        let tensor = &self.tiled.function.tensors[promoted.tensor];
        let groups = singles(promoted.extents.len());
        let depth = lines.depth;
        self.share_out(promoted.loaded.iter().product(), lines);
        self.digits(&promoted.loaded, &groups, 1, lines);
        let mut inside: Vec<String> = Vec::new();
        for (dimension, origin) in self.origins.iter().enumerate() {
            let subscript = match promoted.loaded[dimension] {
                1 => origin.clone(),
                _ => format!("{origin} + tc_{dimension}"),
            };
            if promoted.conditional {
                inside.push(format!("{subscript} >= 0"));
            }
            // A sum that no index moves is inside already.
            if promoted.conditional || promoted.loaded[dimension] > 1 {
                let extent = size(self.tiled.function, &tensor.extents[dimension]);
                inside.push(format!("{subscript} < {extent}"));
            }
        }
        let place = self.element(&groups);
        let loaded = match inside.is_empty() {
            true => place,
            false => format!(
                "{} ? {place} : {}",
                inside.join(" && "),
                zero(tensor.scalar)
            ),
        };
        let along = |dimension: usize| self.along(&groups, dimension);
        lines.line(&format!("{} = {loaded};", self.shared(&groups, &along)));
        lines.close_to(depth);
    }
}
