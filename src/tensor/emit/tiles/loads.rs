//! Boxes on their way from device memory to shared memory.
//!
//! A box that is all inside of its tensor is loaded without a question; dimensions of which it has whole rows are then one.
//! Else each element is asked for, and is 0 outside.

use super::Tiled;
use super::made::is_of;
use crate::tensor::emit::kernels::Lines;
use crate::tensor::emit::values::{self, Scope, bracketed};
use crate::tensor::emit::{factor, size};
use crate::tensor::linear::{Atom, Linear};
use crate::tensor::program::{Subscript, Value};
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
    /// What its elements are, where that is not what the tensor has.
    made: Option<Value>,
}

impl Tiled<'_> {
    fn load_of(&self, number: usize) -> Load<'_> {
        let promoted = &self.tiles.promoted[number];
        let statement = reducing(self.kernel, self.tiles);
        let forms = promoted.subscripts.iter();
        Load {
            tiled: self,
            number,
            promoted,
            origins: forms
                .map(|form| values::form(self.function, statement, form))
                .collect(),
            made: self.made().of_boxes.swap_remove(number),
        }
    }

    /// What is the same for all strips.
    pub(super) fn ask_before(&self, lines: &mut Lines) {
        if self.tiles.promoted.is_empty() {
            return;
        }
        let mut all = Vec::new();
        if self.may_be_partial() {
            all.push("tc_full".to_owned());
        }
        for number in 0..self.tiles.promoted.len() {
            let load = self.load_of(number);
            let groups = load.groups();
            let first = load.first_origin(&groups);
            if let Some(wide) = first.and_then(|first| load.wide(&groups, Some(first))) {
                lines.line(&format!("const bool {} = {wide};", load.wide_name()));
                all.push(load.wide_name());
            }
        }
        if self.all_are_wide() {
            lines.line(&format!("const bool tc_wide = {};", all.join(" && ")));
        }
    }

    /// Whether all boxes of tensor cores are loaded by 16 bytes or not for all strips alike.
    fn all_are_wide(&self) -> bool {
        (0..self.tiles.promoted.len()).all(|number| {
            let load = self.load_of(number);
            load.first_origin(&load.groups()).is_some()
        })
    }

    /// Loads a box.
    pub(super) fn promote(&self, number: usize, lines: &mut Lines) {
        let promoted = &self.tiles.promoted[number];
        let load = self.load_of(number);
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
        let wide = load.wide(&groups, None);
        conditions.extend(wide.clone());
        if conditions.is_empty() {
            return load.whole(&groups, false, lines);
        }
        let depth = lines.depth;
        lines.open(&format!("if ({})", conditions.join(" && ")));
        load.whole(&groups, wide.is_some(), lines);
        lines.close_to(depth);
        lines.open("else");
        load.element_by_element(lines);
        lines.close_to(depth);
    }

    /// Loads the boxes of what tensor cores multiply: both by 16 bytes without a question, or each as it can be.
    pub(super) fn promote_matrices(&self, lines: &mut Lines) {
        let loads: Vec<Load<'_>> = (0..self.tiles.promoted.len())
            .map(|number| self.load_of(number))
            .collect();
        let wide = loads.iter().map(|load| {
            let groups = load.groups();
            match load.first_origin(&groups) {
                Some(_) => Some(load.wide_name()),
                None => load.wide(&groups, None),
            }
        });
        let wide: Vec<Option<String>> = wide.collect();
        let depth = lines.depth;
        if let Some(all) = wide.iter().cloned().collect::<Option<Vec<String>>>() {
            let mut conditions = Vec::new();
            if self.may_be_partial() {
                conditions.push("tc_full".to_owned());
            }
            conditions.extend(all);
            if self.all_are_wide() {
                conditions = vec!["tc_wide".to_owned()];
            }
            if !self.tiles.strip.is_always_full() {
                conditions.push(format!("tc_steps == {}", self.tiles.strip.count));
            }
            lines.open(&format!("if ({})", conditions.join(" && ")));
            for load in &loads {
                load.whole(&load.groups(), true, lines);
            }
            lines.close_to(depth);
            lines.open("else");
        }
        let outside = lines.depth;
        for (load, wide) in loads.iter().zip(wide) {
            if wide.is_some_and(|condition| load.pieces(&condition, lines)) {
                lines.close_to(outside);
                lines.open("else");
            }
            load.element_by_element(lines);
            lines.close_to(outside);
        }
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
                    made: None,
                };
                let depth = lines.depth;
                if self.tiles.stages > 1 {
                    lines.open(&format!(
                        "for (int tc_stage = 0; tc_stage < {}; ++tc_stage)",
                        self.tiles.stages
                    ));
                }
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

    /// How many elements 16 bytes are.
    fn width(&self) -> usize {
        let scalar = self.tiled.function.tensors[self.promoted.tensor].scalar;
        match scalar {
            Scalar::Float => 4,
            Scalar::Half | Scalar::Bfloat16 => 8,
            _ => 1,
        }
    }

    /// Under which condition the last dimensions are loaded by 16 bytes, if ever.
    fn wide(&self, groups: &[Range<usize>], origin: Option<String>) -> Option<String> {
        let group = groups.last()?;
        let tensor = &self.tiled.function.tensors[self.promoted.tensor];
        let elements: usize = self.promoted.loaded[group.clone()].iter().product();
        let width = self.width();
        // Four floats find their places one by one, unless they are on their way by themselves.
        let is_possible = self.has_rows(groups) || (width == 4 && self.tiled.tiles.stages == 1);
        (width > 1 && is_possible && elements.is_multiple_of(width)).then(|| {
            let row: Vec<String> = match group.len() {
                1 => vec![size(self.tiled.function, &tensor.extents[group.start])],
                _ => (tensor.extents[group.clone()].iter())
                    .map(|extent| factor(self.tiled.function, extent))
                    .collect(),
            };
            let origin = origin.unwrap_or_else(|| self.origin(group));
            let row = row.join(" * ");
            format!("tc_by_16_bytes({}, {origin}, {row})", tensor.name)
        })
    }

    /// Where the box of the first strip begins along the last dimension, where all others are as well aligned. Only tensor
    /// cores are so fast that it matters.
    fn first_origin(&self, groups: &[Range<usize>]) -> Option<String> {
        let tiled = self.tiled;
        let (statement, strip) = (reducing(tiled.kernel, tiled.tiles), &tiled.tiles.strip);
        let last = groups.last().filter(|group| group.len() == 1)?.start;
        tiled.tiles.cores.as_ref()?;
        self.wide(groups, None)?;
        let mut form = self.promoted.subscripts[last].clone();
        for index in tiled.tiles.loops(statement) {
            let factor = form.terms.get(&Atom::Variable(index)).copied();
            let Some(factor) = factor else { continue };
            let step = usize::try_from(factor).ok()? * strip.count;
            if index != strip.index || !step.is_multiple_of(self.width()) {
                return None;
            }
            let low = statement.variables[index].low.linear()?;
            form = form.plus(&Linear::variable(index), factor.checked_neg()?)?;
            form = form.plus(low, factor)?;
        }
        Some(values::form(tiled.function, statement, &form))
    }

    /// The name of what says whether all strips of the box are loaded by 16 bytes.
    fn wide_name(&self) -> String {
        format!("tc_wide_{}", self.tiled.tile_name(self.number))
    }

    /// Whether neighbours in the tensor are neighbours in shared memory, and 16 bytes of them are aligned there.
    fn has_rows(&self, groups: &[Range<usize>]) -> bool {
        let (promoted, width) = (self.promoted, self.width());
        let row = promoted.extents[promoted.inner] + promoted.padding;
        let are_aligned = self.tiled.tiles.stages == 1 || promoted.elements().is_multiple_of(width);
        groups.last().is_some_and(|group| {
            let is_aligned = group.len() > 1 || row.is_multiple_of(width) || groups.len() == 1;
            group.contains(&promoted.inner) && is_aligned && are_aligned
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
            "tc_{}{}{}",
            self.tiled.tile_name(self.number),
            self.tiled.stage(),
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

    /// What the box has of an element of the tensor.
    fn made_of(&self, element: &str) -> String {
        let Some(made) = &self.made else {
            return element.to_owned();
        };
        let held = |tensor: usize, subscripts: &[Subscript]| {
            is_of(self.promoted, tensor, subscripts).then(|| element.to_owned())
        };
        let scope = Scope {
            statement: reducing(self.tiled.kernel, self.tiled.tiles),
            held: &held,
        };
        values::value(self.tiled.function, scope, made)
    }

    /// An element on its way; four or eight bytes need no register.
    fn copy(&self, to: &str, from: &str) -> String {
        let scalar = self.tiled.function.tensors[self.promoted.tensor].scalar;
        match (self.tiled.tiles.stages, scalar.bytes()) {
            (2.., bytes @ (4 | 8)) => {
                format!("__pipeline_memcpy_async(&{to}, &{from}, {bytes});")
            }
            _ => format!("{to} = {};", self.made_of(from)),
        }
    }

    fn copy_16_bytes(&self, to: &str, from: &str) -> String {
        match self.tiled.tiles.stages {
            1 => format!(
                "*reinterpret_cast<float4 *>(&{to}) = *reinterpret_cast<const float4 *>(&{from});"
            ),
            _ => format!("__pipeline_memcpy_async(&{to}, &{from}, 16);"),
        }
    }

    /// A box of which all is inside.
    fn whole(&self, groups: &[Range<usize>], is_wide: bool, lines: &mut Lines) {
        let promoted = self.promoted;
        let along = |dimension: usize| self.along(groups, dimension);
        let count: usize = promoted.loaded.iter().product();
        let depth = lines.depth;
        let place = self.element(groups);
        if !is_wide {
            self.share_out(count, lines);
            self.digits(&promoted.loaded, groups, 1, lines);
            lines.line(&self.copy(&self.shared(groups, &along), &place));
            return lines.close_to(depth);
        }
        let width = self.width();
        self.share_out(count / width, lines);
        self.digits(&promoted.loaded, groups, width, lines);
        let to = self.shared(groups, &along);
        let has_rows = self.has_rows(groups);
        if has_rows && self.made.is_none() {
            lines.line(&self.copy_16_bytes(&to, &place));
            return lines.close_to(depth);
        }
        lines.line(&format!(
            "const float4 tc_four = *reinterpret_cast<const float4 *>(&{place});"
        ));
        if has_rows {
            let each = ["x", "y", "z", "w"].map(|part| self.made_of(&format!("tc_four.{part}")));
            lines.line(&format!(
                "*reinterpret_cast<float4 *>(&{to}) = make_float4({});",
                each.join(", ")
            ));
            return lines.close_to(depth);
        }
        let last = groups.last().map_or(0, |group| group.start);
        for (offset, part) in ["x", "y", "z", "w"].into_iter().enumerate() {
            let to = self.shared(groups, &|dimension| match (dimension == last, offset) {
                (true, 1..) => format!("tc_{dimension} + {offset}"),
                _ => along(dimension),
            });
            let from = self.made_of(&format!("tc_four.{part}"));
            lines.line(&format!("{to} = {from};"));
        }
        lines.close_to(depth);
    }

    /// A box of matrices of which some may be outside, by pieces of 16 bytes that are inside or are not; the caller closes
    /// what this opens. False where its rows have no such pieces.
    fn pieces(&self, condition: &str, lines: &mut Lines) -> bool {
        let (promoted, width) = (self.promoted, self.width());
        let groups = &singles(promoted.extents.len());
        let last = promoted.extents.len() - 1;
        if promoted.inner != last {
            return false;
        }
        // A strip may end before the tensor does.
        let tiles = self.tiled.tiles;
        let ends_inside = self.terms() == Some(last) && !tiles.strip.is_always_full();
        let strip = match ends_inside {
            true => format!(" && tc_steps % {width} == 0"),
            false => String::new(),
        };
        lines.open(&format!("if ({condition}{strip})"));
        self.share_out(promoted.loaded.iter().product::<usize>() / width, lines);
        self.digits(&promoted.loaded, groups, width, lines);
        let along = |dimension: usize| self.along(groups, dimension);
        let (to, from) = (self.shared(groups, &along), self.element(groups));
        let copy = self.copy_16_bytes(&to, &from);
        match self.inside().join(" && ") {
            always if always.is_empty() => lines.line(&copy),
            inside => {
                lines.line(&format!("if ({inside})"));
                lines.line(&format!("    {copy}"));
                lines.line("else");
                lines.line(&format!(
                    "    *reinterpret_cast<float4 *>(&{to}) = make_float4(0, 0, 0, 0);"
                ));
            }
        }
        true
    }

    /// The dimension along which terms of tensor cores lie.
    fn terms(&self) -> Option<usize> {
        let cores = self.tiled.tiles.cores.as_ref()?;
        let mut factors = cores.factors.iter();
        let factor = factors.find(|factor| factor.promoted == self.number)?;
        Some(factor.terms)
    }

    /// A box of which some may be outside.
    fn element_by_element(&self, lines: &mut Lines) {
        let promoted = self.promoted;
        let tensor = &self.tiled.function.tensors[promoted.tensor];
        let groups = singles(promoted.extents.len());
        let depth = lines.depth;
        self.share_out(promoted.loaded.iter().product(), lines);
        self.digits(&promoted.loaded, &groups, 1, lines);
        let inside = self.inside();
        let place = self.element(&groups);
        let along = |dimension: usize| self.along(&groups, dimension);
        let (to, zero) = (self.shared(&groups, &along), zero(tensor.scalar));
        let copy = self.copy(&to, &place);
        match inside.join(" && ") {
            always if always.is_empty() => lines.line(&copy),
            inside if copy.starts_with("__pipeline") => {
                lines.line(&format!("if ({inside})"));
                lines.line(&format!("    {copy}"));
                lines.line("else");
                lines.line(&format!("    {to} = {zero};"));
            }
            inside => {
                let from = self.made_of(&place);
                // A choice within the value would be taken for the end of this one.
                let from = match self.made {
                    Some(_) => format!("({from})"),
                    None => from,
                };
                lines.line(&format!("{to} = {inside} ? {from} : {zero};"));
            }
        }
        lines.close_to(depth);
    }

    /// Under which conditions an element is one of the tensor's, and of the strip.
    fn inside(&self) -> Vec<String> {
        let promoted = self.promoted;
        let tensor = &self.tiled.function.tensors[promoted.tensor];
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
        // Tensor cores multiply all terms of a strip: those behind the last one have to be 0 whatever the tensor has there.
        let tiles = self.tiled.tiles;
        if !tiles.strip.is_always_full() {
            inside.extend(self.terms().map(|terms| format!("tc_{terms} < tc_steps")));
        }
        inside
    }
}
