//! Units of many small cases: random launch groups with their host code, over a pool of kernels that
//! all cases of a unit share, since compiling kernels is dear and launching them again is not.

use super::kernels::{Kernel, Shape};
use super::{Case, pick, whole_program};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Kernels that a unit has.
const POOL_KERNELS: usize = 10;

/// A unit: kernels, and host functions that launch groups of them.
#[derive(Clone)]
pub struct Unit {
    /// What it was made from.
    pub seed: u64,
    /// Kernels and device variables of all cases.
    kernels: String,
    /// The cases that are part of it.
    pub cases: Vec<GroupCase>,
}

/// A host function that launches two to six kernels.
#[derive(Clone)]
pub struct GroupCase {
    /// Its number in the unit.
    pub number: usize,
    /// Which of several variants of the case it is, in a unit that has them all.
    pub variant: usize,
    /// Helpers of its own.
    helpers: String,
    /// The host function, one statement a line; a block begins with a line that ends in `{`.
    pub lines: Vec<String>,
}

impl Unit {
    /// The unit of a seed with some cases.
    pub fn new(seed: u64, cases: usize) -> Self {
        let mut random = StdRng::seed_from_u64(seed ^ 0x6772_6f75_7073);
        let element = pick(
            &mut random,
            &["int", "unsigned", "float", "float", "double"],
        );
        let pool = Pool::new(&mut random, cases, element);
        let kernels = pool.definitions.clone();
        let cases = (0..cases)
            .map(|number| pool.group(&mut random, number))
            .collect();
        Self {
            seed,
            kernels,
            cases,
        }
    }

    /// The same unit with other cases.
    pub fn with(&self, cases: Vec<GroupCase>) -> Self {
        Self {
            cases,
            ..self.clone()
        }
    }

    /// The program. Its arguments are the first draw of run-time values and how many draws follow:
    /// sizes, trip counts, strides, block sizes and which pointer is which. It prints `#N V K` before
    /// what variant V of case N prints with draw K.
    pub fn text(&self) -> String {
        let (mut functions, mut calls) = (String::new(), String::new());
        let mut helped = BTreeSet::new();
        for case in &self.cases {
            let (number, variant) = (case.number, case.variant);
            let lines = case.lines.join("\n");
            // Variants have their helpers in common.
            if lines.contains("helper_") && helped.insert(number) {
                functions.push_str(&case.helpers);
            }
            let name = format!("variant_{variant}_of_{number}");
            functions.push_str(&lines.replacen(&format!("case_{number}("), &format!("{name}("), 1));
            functions.push_str("\n\n");
            // What is called by name is inlined into `main`, and a program of a hundred groups is then one
            // function, which is slow to compile; other groups are functions of their own.
            let (choice, called) = match (self.seed + number as u64).is_multiple_of(8) {
                true => (String::new(), name.as_str()),
                false => (format!("group = {name}; "), "group"),
            };
            let _ = writeln!(
                calls,
                "        {{ Draw d = draw(k, {number}); printf(\"#{number} {variant} %d\\n\", k); \
                 {choice}{called}(d.n, d.repeat, d.stride, d.mix); }}"
            );
        }
        let calls = format!("    for (int k = size; k < size + stride; ++k) {{\n{calls}    }}\n");
        format!(
            "// Generated launch groups, seed {}.\n{}",
            self.seed,
            whole_program(&format!("{DRAW}\n{}", self.kernels), &functions, &calls)
        )
    }
}

impl GroupCase {
    /// The case without some of its statements, one way each: what can be left out is a statement
    /// that defines nothing, or a block of them, or what a block has around its statements.
    pub fn smaller(&self) -> Vec<Self> {
        let lines = &self.lines;
        let without = |is_left_out: &dyn Fn(usize) -> bool| Self {
            lines: (0..lines.len())
                .filter(|line| !is_left_out(*line))
                .map(|line| lines[line].clone())
                .collect(),
            ..self.clone()
        };
        let mut found = Vec::new();
        for (start, line) in lines.iter().enumerate().skip(1) {
            if is_opening(line) {
                let Some(end) = block_end(lines, start) else {
                    continue;
                };
                found.push(without(&|line| (start..=end).contains(&line)));
                // The counter of a loop may be used inside.
                if !lines[start + 1..end]
                    .iter()
                    .any(|line| line.contains("step"))
                {
                    found.push(without(&|line| line == start || line == end));
                }
            } else if is_removable(line) {
                found.push(without(&|line| line == start));
            }
        }
        found
    }

    /// How many launches its text has.
    pub fn launches(&self) -> usize {
        let launches = |line: &&String| line.contains("<<<") || line.contains("helper_");
        self.lines.iter().filter(launches).count()
    }
}

fn is_opening(line: &str) -> bool {
    line.trim_end().ends_with('{')
}

/// The line that closes the block that `start` opens.
fn block_end(lines: &[String], start: usize) -> Option<usize> {
    let mut depth = 0;
    for (index, line) in lines.iter().enumerate().skip(start) {
        match line.trim() {
            "}" => depth -= 1,
            _ if is_opening(line) => depth += 1,
            _ => {}
        }
        if depth == 0 {
            return Some(index);
        }
    }
    None
}

/// Whether nothing else needs a statement.
fn is_removable(line: &str) -> bool {
    let line = line.trim();
    let begins = [
        "cudaDevice",
        "cudaMem",
        "cudaStreamSync",
        "if (",
        "{ ",
        "printf",
        "show(",
    ];
    !line.contains("Create") && (line.contains("<<<") || begins.iter().any(|b| line.starts_with(b)))
}

/// Run-time values: the same for the same draw and case, in every build.
const DRAW: &str = r"
// What this points to is not seen at compile time.
static void (*volatile group)(int, int, int, unsigned);

struct Draw {
    int n, repeat, stride;
    unsigned mix;
};

static Draw draw(int number, int of_case) {
    unsigned long long state = number * 0x9e3779b97f4a7c15ull + of_case * 0xd1342543de82ef95ull + 1;
    unsigned words[4];
    for (unsigned &word : words) {
        state ^= state >> 33, state *= 0xff51afd7ed558ccdull, state ^= state >> 29;
        word = (unsigned)(state >> 16);
    }
    static const int SIZES[8] = {0, -1, 1, 3, 32, 512, 1024, 1500};
    int n = words[0] % 4 ? (int)(words[0] / 4 % 1500) : SIZES[words[0] / 4 % 8];
    return {n, (int)(words[1] % 4), words[2] % 3 ? 1 : (int)(words[2] | 1), words[3]};
}
";

/// Kernels of one element type.
struct Pool {
    element: &'static str,
    pitch: &'static str,
    kernels: Vec<Kernel>,
    variables: Vec<String>,
    definitions: String,
}

impl Pool {
    fn new(random: &mut StdRng, number: usize, element: &'static str) -> Self {
        let pitch = pick(random, &["width", "pitch", "pitch"]);
        let mut maker = Case {
            random,
            tame: true,
            near: false,
            pitch,
            number,
            element,
            definitions: String::new(),
            variables: Vec::new(),
            pool: Vec::new(),
            count: 0,
        };
        let kernels = (0..POOL_KERNELS)
            .map(|index| {
                maker.tame = maker.chance(0.7);
                let shape = match index {
                    0..6 => Shape::Line,
                    6..8 => Shape::Rows,
                    8 => Shape::Plane,
                    _ => maker.pick(&[Shape::Plane, Shape::Plane, Shape::Transposed, Shape::Solid]),
                };
                maker.near = matches!(index, 0..4 | 6 | 8);
                maker.kernel(shape)
            })
            .collect();
        Self {
            element,
            pitch,
            kernels,
            variables: maker.variables,
            definitions: maker.definitions,
        }
    }

    fn group(&self, random: &mut StdRng, number: usize) -> GroupCase {
        let tame = random.random_bool(0.8);
        let mut case = Case {
            random,
            tame,
            near: false,
            pitch: self.pitch,
            number,
            element: self.element,
            definitions: String::new(),
            variables: self.variables.clone(),
            pool: self.kernels.clone(),
            count: 0,
        };
        let function = case.host_function();
        GroupCase {
            number,
            variant: 0,
            helpers: case.definitions,
            lines: function.trim_end().lines().map(str::to_owned).collect(),
        }
    }
}
