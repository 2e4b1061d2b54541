//! Groups that are made to run as one: chains of launches that keep to their threads or blocks,
//! launches that read one buffer, and nests of host loops over rows of buffers, which become batches.
//!
//! The other groups meet these only by chance; without them most random launches stay unfused, and what is
//! never fused is never tried.

use super::Case;
use super::host::Scene;
use super::kernels::{Kernel, Shape};
use rand::Rng;
use std::fmt::Write;

/// What the launches of a group have to do with each other.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// Whatever comes.
    Any,
    /// Each reads what one before it wrote, in the same thread or block.
    Chain,
    /// All read one buffer, each writes a buffer of its own.
    Sharing,
    /// Loops over steps and cells launch over rows of buffers.
    Batches,
    /// Whole blocks of each are those of the next in another arrangement.
    Arranged,
    /// Blocks and threads of each are others than those of the next, on one stream or several.
    Mixed,
    /// Lengths and steps of each are those of the next where the run says so.
    Sized,
    /// Threads of each read what others of their block wrote.
    Handed,
    /// Kernels find their pointers in memory of the device.
    Tabled,
    /// The host reads and writes what kernels do, too.
    Hosted,
    /// C++ objects hold the pointers.
    Held,
    /// Parts of one allocation, of which some are only read.
    Parted,
    /// One block adds what many have added.
    Reduced,
    /// Many blocks need what one has made.
    Repeated,
}

/// Elements between the first ones of two rows.
const ROW: usize = 256;
/// Most elements that a launch of batches is told of: a kernel that goes a few beyond still stays in its row, so that no
/// launch races with itself.
const MOST: usize = ROW - 8;

impl Case<'_> {
    /// How the group at hand is made.
    pub fn manner(&mut self) -> Manner {
        use Manner::{
            Any, Arranged, Batches, Chain, Handed, Held, Hosted, Mixed, Parted, Reduced, Repeated,
            Sharing, Sized, Tabled,
        };
        match self.pool.is_empty() {
            true => Any,
            false => self.pick(&[
                Any, Any, Chain, Chain, Chain, Chain, Chain, Sharing, Sharing, Batches, Arranged,
                Arranged, Arranged, Arranged, Mixed, Mixed, Mixed, Sized, Sized, Handed, Handed,
                Handed, Handed, Handed, Handed, Handed, Handed, Handed, Tabled, Tabled, Tabled,
                Tabled, Tabled, Tabled, Hosted, Hosted, Hosted, Hosted, Held, Held, Held, Parted,
                Parted, Parted, Reduced, Reduced, Reduced, Reduced, Reduced, Reduced, Reduced,
                Reduced, Reduced, Repeated, Repeated, Repeated, Repeated,
            ]),
        }
    }

    /// A shape of which the pool has kernels that keep to their blocks.
    pub fn near_shape(&mut self) -> Option<Shape> {
        Some(self.pick(&[
            Shape::Line,
            Shape::Line,
            Shape::Line,
            Shape::Rows,
            Shape::Plane,
        ]))
    }

    /// The launches of a group that is made in a certain manner.
    pub fn together(&mut self, manner: Manner, text: &mut String, scene: &mut Scene) {
        match manner {
            Manner::Any => {}
            Manner::Chain => self.chain(text, scene),
            Manner::Sharing => self.sharing(text, scene),
            Manner::Batches => self.batches(text, scene),
            Manner::Arranged => self.arranged(text, scene),
            Manner::Mixed => self.mixed(text, scene),
            Manner::Sized => self.sized(text, scene),
            Manner::Handed => self.handed(text, scene),
            Manner::Tabled => self.tabled(text, scene),
            Manner::Hosted => self.hosted(text, scene),
            Manner::Held => self.held(text, scene),
            Manner::Parted => self.parted(text, scene),
            Manner::Reduced => self.reduced(text, scene),
            Manner::Repeated => self.repeated(text, scene),
        }
    }

    fn chain(&mut self, text: &mut String, scene: &mut Scene) {
        scene.budget = self.random.random_range(2..8);
        scene.near = true;
        let around = self.chance(0.3).then(|| {
            self.pick(&[
                "for (int step = 0; step < repeat; ++step) {",
                "for (int step = 0; step < repeat; ++step) {",
                "if (n > 700) {",
                "if (repeat != 1) {",
            ])
        });
        if let Some(opening) = around {
            let _ = writeln!(text, "    {opening}");
            scene.depth += 1;
            scene.loops += usize::from(opening.starts_with("for"));
        }
        while scene.budget > 0 {
            if self.chance(0.15) {
                self.between(text, scene);
            }
            self.launch(text, scene);
            scene.budget -= 1;
        }
        if around.is_some() {
            text.push_str("    }\n");
            scene.depth = 0;
            scene.loops = 0;
        }
    }

    fn sharing(&mut self, text: &mut String, scene: &mut Scene) {
        let source = self.random.random_range(0..scene.pointers.len());
        for out in 0..scene.pointers.len() {
            if out == source {
                continue;
            }
            scene.fixed = Some((out, source));
            if self.chance(0.1) {
                self.between(text, scene);
            }
            self.launch(text, scene);
        }
        scene.fixed = None;
        scene.budget = 0;
    }

    /// Cells over steps, as stacks of recurrent layers are: a launch reads rows of the step before or
    /// of the cell below, or a row that every step overwrites.
    fn batches(&mut self, text: &mut String, scene: &mut Scene) {
        // Other groups of a seed are the same, whichever this one is.
        let (mut aside, start) = (self.random.clone(), text.len());
        self.cells(text, scene);
        if aside.random_bool(0.4) {
            text.truncate(start);
            std::mem::swap(self.random, &mut aside);
            self.faces(text, scene);
            std::mem::swap(self.random, &mut aside);
        }
        scene.budget = 0;
    }

    /// More launches of different code than a few, of which flags choose some in each step, over few rows: some depend on each
    /// other, and others do not.
    fn faces(&mut self, text: &mut String, scene: &mut Scene) {
        let last = scene.pointers.len() - 1;
        let (states, kept) = (scene.pointers[0].clone(), scene.pointers[last].clone());
        let _ = writeln!(
            text,
            "    int steps = 1 + repeat, cells = 1 + (int)(mix >> 4 & 3), elements = n < {MOST} ? n : {MOST};"
        );
        text.push_str("    for (int step = 1; step <= steps; ++step) {\n");
        let _ = writeln!(text, "    int flags = (int)(mix >> (step & 7));");
        let lines = |kernel: &&Kernel| kernel.shape == Shape::Line;
        let all: Vec<Kernel> = scene.kernels.iter().filter(lines).cloned().collect();
        let first = self.random.random_range(0..all.len());
        let rows: Vec<String> = (0..5)
            .map(|row| {
                format!("{states} + ((step - 1) * (cells + 1) + {row} % (cells + 1)) * {ROW}")
            })
            .chain((0..5).map(|row| format!("{kept} + {row} % (cells + 1) * {ROW}")))
            .collect();
        for face in 0..self.random.random_range(5..12) {
            let kernel = all[(first + face) % all.len()].clone();
            let out = self.random.random_range(0..rows.len());
            let input = match kernel.near {
                true if kernel.in_place && self.chance(0.5) => out,
                // Another row than the own one, whichever rows there are.
                _ => (out / 5 * 5 + 5) % 10 + self.random.random_range(0..5),
            };
            let (out, input) = (rows[out].clone(), rows[input].clone());
            let chosen = match self.chance(0.6) {
                true => format!("if (flags >> {face} & 1) "),
                false => String::new(),
            };
            self.line(text, scene, &kernel, (&out, &input, &chosen));
        }
        text.push_str("    }\n");
    }

    fn cells(&mut self, text: &mut String, scene: &mut Scene) {
        let last = scene.pointers.len() - 1;
        let (states, kept) = (scene.pointers[0].clone(), scene.pointers[last].clone());
        let element = self.element;
        let _ = writeln!(
            text,
            "    int steps = 1 + repeat, cells = 1 + (int)(mix >> 4 & 3), elements = n < {MOST} ? n : {MOST};"
        );
        let mut loops = [
            "for (int step = 1; step <= steps; ++step) {",
            "for (int cell = 1; cell <= cells; ++cell) {",
        ];
        if self.chance(0.3) {
            loops.swap(0, 1);
        }
        for opening in loops {
            let _ = writeln!(text, "    {opening}");
        }
        let row = |step: &str, cell: &str| {
            format!("{states} + (({step}) * (cells + 1) + {cell}) * {ROW}")
        };
        let own = row("step", "cell");
        let _ = writeln!(text, "    {element} *here = {own};");
        let overwritten = format!("{kept} + cell * {ROW}");
        let others = [
            row("step - 1", "cell"),
            row("step", "cell - 1"),
            row("step - 1", "cell - 1"),
            overwritten.clone(),
        ];
        // The lowest layer may be of other code than those above it.
        let layers = match self.chance(0.4) {
            true => vec!["    if (cell == 1) {\n", "    } else {\n"],
            false => vec![""],
        };
        for opening in &layers {
            text.push_str(opening);
            self.cell(text, scene, &others, &overwritten);
        }
        if layers.len() > 1 {
            text.push_str("    }\n");
        }
        text.push_str("    }\n    }\n");
    }

    /// The launches of a cell, each from a row of `others` or the overwritten one to `here`, or back.
    fn cell(&mut self, text: &mut String, scene: &Scene, others: &[String], overwritten: &str) {
        for _ in 0..self.random.random_range(1..5) {
            // Rows of one buffer stand next to each other: who reads more than elements of the own
            // block reads another buffer.
            let near = self.chance(0.8);
            let fits: Vec<Kernel> = scene
                .kernels
                .iter()
                .filter(|kernel| kernel.shape == Shape::Line && (kernel.near || !near))
                .cloned()
                .collect();
            let kernel = fits[self.random.random_range(0..fits.len())].clone();
            let other = others[self.random.random_range(0..others.len())].clone();
            let (out, input) = match self.random.random_range(0..8) {
                0 if kernel.in_place => ("here".to_owned(), "here".to_owned()),
                1 => (overwritten.to_owned(), "here".to_owned()),
                _ if kernel.near => ("here".to_owned(), other),
                _ => ("here".to_owned(), overwritten.to_owned()),
            };
            self.line(text, scene, &kernel, (&out, &input, ""));
        }
    }

    /// A launch of a kernel of one dimension, which `chosen` stands in front of.
    fn line(
        &mut self,
        text: &mut String,
        scene: &Scene,
        kernel: &Kernel,
        (out, input, chosen): (&str, &str, &str),
    ) {
        let (element, threads) = (self.element, scene.threads);
        let shared = match kernel.shared_elements {
            true => format!(", {threads} * sizeof({element})"),
            false => String::new(),
        };
        let arguments = format!("{out}, {input}, elements, width, pitch, stride, scale");
        let arguments = match kernel.packed {
            true => format!("Pack<{element}>{{{arguments}}}"),
            false => arguments,
        };
        let _ = writeln!(
            text,
            "    {chosen}{}<<<(elements + {threads} - 1) / {threads}, {threads}{shared}>>>({arguments});",
            kernel.name
        );
    }
}
