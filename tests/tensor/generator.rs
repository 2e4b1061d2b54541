//! Random definitions. What is refused is made anew, so that the text may be anything; what is accepted has to be right.

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use sirius_rs::tensor::check;
use sirius_rs::tensor::program::Function;

/// Names of sizes, and one of a constant.
const SIZES: [&str; 4] = ["N", "M", "K", "4"];

struct Known {
    name: String,
    extents: Vec<String>,
}

/// The text of a definition that is accepted, its typed form, and how many were refused before.
pub fn definition(seed: u64, name: &str) -> (String, Function, usize) {
    let mut random = StdRng::seed_from_u64(seed);
    for refused in 0.. {
        let text = Draft::new(&mut random).write(name);
        if let Ok(mut functions) = check(&text) {
            return (text, functions.remove(0), refused);
        }
    }
    unreachable!("some definition is accepted")
}

struct Draft<'r> {
    random: &'r mut StdRng,
    scalar: &'static str,
    known: Vec<Known>,
    inputs: Vec<String>,
    lines: Vec<String>,
    outputs: Vec<String>,
    number: usize,
}

impl<'r> Draft<'r> {
    fn new(random: &'r mut StdRng) -> Self {
        let scalars = [
            "float", "float", "float", "double", "double", "int", "half", "bfloat16",
        ];
        let scalar = scalars.choose(random).copied().unwrap_or("float");
        let mut draft = Self {
            random,
            scalar,
            known: Vec::new(),
            inputs: Vec::new(),
            lines: Vec::new(),
            outputs: Vec::new(),
            number: 0,
        };
        // All sizes are brought along.
        draft.input(vec!["N".to_owned(), "M".to_owned()]);
        draft.input(vec!["K".to_owned()]);
        for _ in 0..draft.random.random_range(0..3) {
            let rank = draft.random.random_range(1..=3);
            let extents = (0..rank).map(|_| draft.pick(&SIZES)).collect();
            draft.input(extents);
        }
        if draft.is_short() {
            let extents = ["N", "M", "K"].map(str::to_owned).to_vec();
            let name = "B".to_owned();
            draft
                .inputs
                .push(format!("{scalar}({}) {name}", extents.join(", ")));
            draft.known.push(Known { name, extents });
        }
        draft
    }

    /// Whether tensor cores might multiply its elements.
    fn is_short(&self) -> bool {
        matches!(self.scalar, "half" | "bfloat16")
    }

    fn pick(&mut self, words: &[&str]) -> String {
        words
            .choose(self.random)
            .copied()
            .unwrap_or_default()
            .to_owned()
    }

    fn chance(&mut self, percent: u32) -> bool {
        self.random.random_range(0..100) < percent
    }

    fn input(&mut self, extents: Vec<String>) {
        let name = format!("A{}", self.known.len());
        self.inputs
            .push(format!("{}({}) {name}", self.scalar, extents.join(", ")));
        self.known.push(Known { name, extents });
    }

    fn write(mut self, name: &str) -> String {
        self.inputs.push("int(N) I".to_owned());
        self.inputs.push("int(M) J".to_owned());
        for _ in 0..self.random.random_range(1..=4) {
            match self.random.random_range(0..14) {
                0 => self.scatter(),
                1 => self.recurrence(),
                2 => self.ragged(),
                3 if !self.outputs.is_empty() => self.update(),
                4 => self.joined(),
                5 => self.product(),
                6 => self.rows(),
                7..=8 if self.is_short() => self.product(),
                9 if self.is_short() => self.products(),
                10..=11 if self.is_short() => self.batched_product(),
                _ => self.comprehension(),
            }
        }
        let returns = match self.chance(60) {
            true => self.outputs.clone(),
            false => self.outputs.last().cloned().into_iter().collect(),
        };
        format!(
            "def {name}({}) -> ({}) {{\n{}\n}}\n",
            self.inputs.join(", "),
            returns.join(", "),
            self.lines.join("\n")
        )
    }

    fn new_name(&mut self) -> String {
        self.number += 1;
        let name = format!("T{}", self.number);
        self.outputs.push(name.clone());
        name
    }

    /// A subscript of some of the indices.
    fn subscript(&mut self, indices: &[&str]) -> String {
        let index = self.pick(indices);
        let other = self.pick(indices);
        match self.random.random_range(0..16) {
            0 => format!("{index} + {other}"),
            1 => format!("2*{index}"),
            2 => format!("{index} + 1"),
            3 => format!("{index} - 1"),
            4 => format!("N - 1 - {index}"),
            5 => "0".to_owned(),
            6 => format!("I({index})"),
            7 => format!("{index} % 2"),
            8 => format!("{index} / 2"),
            9 => format!("2*{index} + {other}"),
            _ => index,
        }
    }

    fn read(&mut self, indices: &[&str]) -> String {
        let number = self.random.random_range(0..self.known.len());
        let (name, rank) = (
            self.known[number].name.clone(),
            self.known[number].extents.len(),
        );
        let subscripts: Vec<String> = (0..rank).map(|_| self.subscript(indices)).collect();
        match rank {
            0 => name,
            _ => format!("{name}({})", subscripts.join(", ")),
        }
    }

    /// A read of an input, whose values stay small.
    fn small(&mut self, indices: &[&str]) -> String {
        match self.chance(70) {
            true => format!(
                "A0({}, {})",
                self.subscript(indices),
                self.subscript(indices)
            ),
            false => format!("A1({})", self.subscript(indices)),
        }
    }

    fn value(&mut self, indices: &[&str], depth: usize) -> String {
        if depth == 0 {
            return match self.random.random_range(0..8) {
                0 => self.pick(&["1", "2", "3"]),
                1 if self.scalar != "int" => self.pick(&["0.5", "1.5", "0.25"]),
                2 => self.pick(indices),
                3 => self.pick(&["N", "A0.1"]),
                _ => self.read(indices),
            };
        }
        let a = self.value(indices, depth - 1);
        let b = self.value(indices, depth - 1);
        match self.random.random_range(0..12) {
            0 => format!("({a}) - ({b})"),
            1 => format!("min({a}, {b})"),
            2 => format!("max({a}, {b})"),
            3 => format!("(({a}) < ({b}) ? ({a}) : ({b}))"),
            4 => {
                let index = self.pick(indices);
                let shift = self.pick(&["1", "2", "-1"]);
                let size = self.pick(&["N", "M", "K"]);
                let read = format!("A1({index} + {shift})");
                format!("({index} + {shift} >= 0 && {index} + {shift} < {size} ? {read} : {a})")
            }
            5 => format!("({a}) * {}", self.small(indices)),
            6 => format!("-({a})"),
            7 => format!("abs({a})"),
            8 => format!("{}({a})", self.scalar),
            _ => format!("({a}) + ({b})"),
        }
    }

    fn comprehension(&mut self) {
        let name = self.new_name();
        let left: Vec<&str> = match self.random.random_range(0..8) {
            0 => vec![],
            1..=3 => vec!["i"],
            4..=6 => vec!["i", "j"],
            _ => vec!["j", "i"],
        };
        let reduces = left.is_empty() || self.chance(55);
        let mut indices = left.clone();
        if reduces {
            indices.push("k");
            if self.chance(20) {
                indices.push("l");
            }
        }
        let operator = match reduces {
            true => self.pick(&["+=!", "+=!", "+=!", "max=!", "min=!"]),
            false => "=".to_owned(),
        };
        let depth = self.random.random_range(1..=2);
        let value = self.value(&indices, depth);
        let mut clauses = Vec::new();
        for index in &indices {
            if self.chance(45) {
                let low = match left.contains(index) || self.chance(70) {
                    true => "0".to_owned(),
                    false => self.pick(&["1", "i"]),
                };
                let high = self.pick(&["N", "M", "K", "3", "N - 1", "M / 2 + 1", "K"]);
                clauses.push(format!("{index} in {low}:{high}"));
            }
        }
        let clauses = match clauses.is_empty() {
            true => String::new(),
            false => format!(" where {}", clauses.join(", ")),
        };
        let target = match left.is_empty() {
            true => name.clone(),
            false => format!("{name}({})", left.join(", ")),
        };
        self.lines
            .push(format!("  {target} {operator} {value}{clauses}"));
        self.known.push(Known {
            name,
            extents: vec![String::new(); left.len()],
        });
    }

    /// A product, perhaps with what stands before and behind it.
    fn product(&mut self) {
        let name = self.new_name();
        let reads = self.pick(&[
            "A0(i, k) * A0(j, k)",
            "A0(k, i) * A0(k, j)",
            "A0(i, k) * A0(k, j)",
            "A0(i, k) * A1(j + k)",
            "(A0(i, k) + k) * (A0(j, k) - i)",
            "(k < j ? A0(i, k) : A0(j, k)) * A0(j, k)",
            "float(A0(i, k)) * A0(j, k)",
        ]);
        let (first, second) = match reads.as_str() {
            "A0(k, i) * A0(k, j)" => ("M", "M"),
            "A0(i, k) * A0(k, j)" => ("N", "M"),
            "A0(i, k) * A1(j + k)" => ("N", "K - M + 1"),
            _ => ("N", "N"),
        };
        let ranges = format!("i in 0:{first}, j in 0:{second}");
        if self.chance(40) && second != "K - M + 1" {
            self.lines
                .push(format!("  {name}(i, j) = i + 2 * j where {ranges}"));
            self.lines.push(format!("  {name}(i, j) += {reads}"));
        } else {
            self.lines.push(format!("  {name}(i, j) +=! {reads}"));
        }
        if self.chance(40) {
            self.lines
                .push(format!("  {name}(i, j) = max({name}(i, j), 3)"));
        }
        self.known.push(Known {
            name,
            extents: vec![String::new(); 2],
        });
    }

    /// Products of the same elements, with what stands between and behind them.
    fn products(&mut self) {
        let ranges = " where i in 0:N, j in 0:M";
        let (mut made, mut last): (Vec<String>, Option<String>) = (Vec::new(), None);
        for _ in 0..self.random.random_range(2..=5) {
            let reads = self.pick(&[
                "A0(i, k) * B(i, j, l)",
                "A0(i, k) * A1(l)",
                "A2(k) * B(i, j, l)",
                "A0(i, k) - A0(i, j)",
            ]);
            let shared = self.pick(&[
                "A0(i, k) * A0(k, j)",
                "A0(i, k) * A2(k)",
                "A0(k, j) * A0(i, k)",
                "A0(i, k) * A0(k, j) + A2(k)",
                "B(k, j, 0 * k) * A0(i, 0 * k)",
            ]);
            let (reads, names) = match self.chance(80) {
                true => (shared, ranges.replace(',', ", k in 0:min(N, M),")),
                false => (reads, format!("{ranges}, k in 0:M, l in 0:K")),
            };
            let operator = self.pick(&["+=!", "+=!", "+=!", "max=!"]);
            match last.clone().filter(|_| self.chance(25)) {
                Some(name) => self.lines.push(format!("  {name}(i, j) += {reads}{names}")),
                None => {
                    let name = self.new_name();
                    self.lines
                        .push(format!("  {name}(i, j) {operator} {reads}{names}"));
                    made.push(name.clone());
                    last = Some(name);
                }
            }
            if let Some(name) = last.clone().filter(|_| self.chance(40)) {
                let value = self.pick(&[
                    &format!("max({name}(i, j), 3)"),
                    &format!("{name}(i, j) + i - j"),
                ]);
                self.lines.push(format!("  {name}(i, j) = {value}"));
            }
        }
        if self.chance(40) {
            let (name, sum) = (self.new_name(), made.join("(i, j) + "));
            self.lines.push(format!("  {name}(i, j) = {sum}(i, j)"));
            made.push(name);
        }
        for name in made {
            self.known.push(Known {
                name,
                extents: vec![String::new(); 2],
            });
        }
    }

    /// A product of short numbers for each value of another index.
    fn batched_product(&mut self) {
        let name = self.new_name();
        let value = self.pick(&[
            "B(b, i, k) * B(b, j, k)",
            "B(b, k, i) * B(b, k, j)",
            "float(B(b, k, i)) * A0(b, k)",
            "B(i, b, k) * A0(j, b + 0 * k)",
            "B(i, k, b) * float(A0(j, k))",
        ]);
        let clauses = self.pick(&["", "", " where k in 0:M - 1", " where k in 1:M - 2"]);
        let indices = match value.contains("(b, k, i)) * A0") {
            true => "b, i",
            false => "b, i, j",
        };
        self.lines
            .push(format!("  {name}({indices}) +=! {value}{clauses}"));
        let rank = indices.split(',').count();
        self.known.push(Known {
            name,
            extents: vec![String::new(); rank],
        });
    }

    /// What softmax does, with simpler functions.
    fn rows(&mut self) {
        let (largest, apart, total, result) = (
            self.new_name(),
            self.new_name(),
            self.new_name(),
            self.new_name(),
        );
        let read = self.pick(&["A0(i, k)", "A0(i, k) * A0(i, k)", "A0(i, k) + k"]);
        let operator = self.pick(&["max=!", "min=!", "+=!"]);
        self.lines.push(format!("  {largest}(i) {operator} {read}"));
        if self.chance(30) {
            self.lines
                .push(format!("  {largest}(i) = {largest}(i) + 1"));
        }
        self.lines
            .push(format!("  {apart}(i, j) = A0(i, j) - {largest}(i)"));
        let place = self.pick(&["k", "M - 1 - k", "k / 2"]);
        self.lines.push(format!(
            "  {total}(i) +=! {apart}(i, {place}) where k in 0:M"
        ));
        self.lines.push(format!(
            "  {result}(i, j) = {apart}(i, j) * 2 + {total}(i) where j in 0:M"
        ));
        for (name, rank) in [(largest, 1), (apart, 2), (total, 1), (result, 2)] {
            self.known.push(Known {
                name,
                extents: vec![String::new(); rank],
            });
        }
    }

    /// A tensor that is changed in place.
    fn update(&mut self) {
        let changeable: Vec<(String, usize)> = (self.known.iter())
            .filter(|known| known.name.starts_with('T'))
            .map(|known| (known.name.clone(), known.extents.len()))
            .collect();
        let Some((name, rank)) = changeable.choose(self.random).cloned() else {
            return;
        };
        let all = ["i", "j", "k"];
        let left = &all[..rank.min(3)];
        let target = match rank {
            0 => name,
            _ => format!("{name}({})", left.join(", ")),
        };
        let indices = if rank == 0 { &["0"][..] } else { left };
        let value = self.value(indices, 1);
        let line = match self.chance(50) {
            true => format!("  {target} = {target} + ({value})"),
            false => format!("  {target} += {value}"),
        };
        self.lines.push(line);
    }

    fn scatter(&mut self) {
        let name = self.new_name();
        let scalar = self.scalar;
        let size = self.pick(&["N", "M"]);
        self.lines.push(format!("  {scalar}({size}, M) {name}"));
        let operator = self.pick(&["+=!", "max=!", "min=!"]);
        let index = self.pick(&["I(i)", "i / 2", "I(i) + 1", "i % 2"]);
        let value = self.value(&["i", "j"], 1);
        self.lines.push(format!(
            "  {name}({index}, j) {operator} {value} where i in 0:N, j in 0:M"
        ));
        self.known.push(Known {
            name,
            extents: vec![size, "M".to_owned()],
        });
    }

    fn recurrence(&mut self) {
        let name = self.new_name();
        let scalar = self.scalar;
        let time = format!("t{}", self.number);
        self.lines.push(format!("  {scalar}(N + 1, M) {name}"));
        let first = self.value(&["j"], 1);
        self.lines.push(format!("  {name}(0, j) = {first}"));
        let step = self.pick(&["1", "1", "0"]);
        let reads = match self.chance(50) {
            true => format!("{name}({time}, M - 1 - j)"),
            false => format!("{name}({time}, j)"),
        };
        let (sum, value) = match self.chance(30) {
            true => {
                let value = self.value(&["j", "k"], 1);
                let sum = format!("    {name}_sum(j) +=! {value} where j in 0:M, k in 0:N\n");
                (sum, format!("{name}_sum(j)"))
            }
            false => (String::new(), self.value(&["j"], 1)),
        };
        self.lines.push(format!(
            "  for {time} in 0:N {{\n{sum}    {name}({time} + {step}, j) = {reads} - ({value})\n  }}"
        ));
        self.known.push(Known {
            name,
            extents: vec!["N".to_owned(), "M".to_owned()],
        });
    }

    fn ragged(&mut self) {
        let name = self.new_name();
        let value = self.value(&["i", "k"], 1);
        let high = self.pick(&["J(i) + 2", "J(i)", "I(i) + i"]);
        let low = self.pick(&["0", "J(i)", "i"]);
        self.lines.push(format!(
            "  {name}(i) +=! {value} where i in 0:M, k in {low}:{high}"
        ));
        self.known.push(Known {
            name,
            extents: vec!["M".to_owned()],
        });
    }

    fn joined(&mut self) {
        let name = self.new_name();
        let axis = self.random.random_range(0..2);
        let one_dimensional: Vec<String> = (self.known.iter())
            .filter(|known| known.extents.len() == 1 && known.name.starts_with('T'))
            .map(|known| known.name.clone())
            .collect();
        match one_dimensional.choose(self.random).cloned() {
            Some(other) => {
                self.lines
                    .push(format!("  {name} = concat(A1, {other}, 0)"));
                self.known.push(Known {
                    name,
                    extents: vec![String::new()],
                });
            }
            None => {
                self.lines
                    .push(format!("  {name} = concat(A0, A0, {axis})"));
                self.known.push(Known {
                    name,
                    extents: vec![String::new(); 2],
                });
            }
        }
    }
}
