//! Which options make the best kernels of a tensor definition for given sizes.
//!
//! Genes are the mapping with the schedules that its templates may have, the strategy of fusion, the three sizes of a tile, of
//! which those are tried that leave little over (powers of two, and what the sizes divide into), how many stages it has, and
//! whether shared memory and tensor cores are used. Where there are many, the genetic search of [`super::search`] goes through
//! them, and the model of [`model`] ranks them. What is found is kept in a file, by what the definition says: names do not matter.
//!
//! Options that change results are none of the genes: how reductions and scatters join their terms stays as given.

mod known;
mod model;

pub use known::{Entry, Known, TuningError};

use super::Figures;
use super::search::{Evaluated, Genome, first_generation, next_generation};
use crate::tensor::Options;
use crate::tensor::canonical;
use crate::tensor::mapping::Mapping;
use crate::tensor::polyhedral::Strategy;
use crate::tensor::program::{Function, SymbolKind};
use crate::tensor::stitch::Stitched;
use crate::tensor::stitch::template::Teams;
use crate::tensor::transform::{SharedMemory, TensorCores, TileSizes};
use crate::tensor::types::Scalar;
use model::Estimate;
use rand::SeedableRng;
use rand::rngs::StdRng;
use std::time::{Duration, Instant};

/// A number for each size of a definition, in their order.
///
/// # Errors
/// A size that has none.
pub fn sizes_of(function: &Function, given: &[(String, i64)]) -> Result<Vec<i64>, TuningError> {
    let names = canonical::sizes(function);
    let number = |name: &str| {
        let found = given.iter().find(|(known, _)| known == name);
        found
            .map(|(_, number)| *number)
            .ok_or_else(|| TuningError::NoSize {
                definition: function.name.clone(),
                size: name.to_owned(),
            })
    };
    names.map(number).collect()
}

/// What is tuned: a definition, its sizes in their order, and the device.
#[derive(Clone, Copy)]
pub struct Request<'r> {
    /// The definition.
    pub function: &'r Function,
    /// A number for each of its sizes.
    pub sizes: &'r [i64],
    /// The options that are given.
    pub options: Options,
    /// The device.
    pub figures: &'r Figures,
    /// Of all that is random.
    pub seed: u64,
    /// How long the search may take.
    pub budget: Duration,
}

impl Request<'_> {
    /// What is known: from a file where it has the definition, else by a search.
    pub fn answered(&self, known: &mut Known) -> Entry {
        if let Some(entry) = known.find(self) {
            return entry;
        }
        let (options, nanoseconds) = self.search();
        let entry = Entry::of(self, options, nanoseconds);
        known.keep(entry.clone());
        entry
    }

    /// The best options, and the model's nanoseconds.
    fn search(&self) -> (Options, f64) {
        let started = Instant::now();
        let genes = Genes::of(self);
        let lengths = genes.lengths();
        let mut random = StdRng::seed_from_u64(self.seed);
        let mut evaluated: Vec<Evaluated> = Vec::new();
        let mut next = first_generation(&lengths, FEW);
        for _ in 0..=GENERATIONS {
            for genome in std::mem::take(&mut next) {
                // What is given is among those that are looked at.
                if evaluated.is_empty() || started.elapsed() < self.budget {
                    let nanoseconds = self.estimate(genes.options(self.options, &genome));
                    evaluated.push(Evaluated {
                        genome,
                        nanoseconds,
                    });
                }
            }
            next = next_generation(&evaluated, &lengths, CHILDREN, &mut random);
        }
        // Of equals, the first one: it changes least.
        let best = evaluated
            .iter()
            .min_by(|one, other| one.nanoseconds.total_cmp(&other.nanoseconds));
        match best {
            Some(best) => (genes.options(self.options, &best.genome), best.nanoseconds),
            None => (self.options, f64::MAX),
        }
    }

    /// What the model says of some options.
    pub fn estimate(&self, options: Options) -> f64 {
        let mut sizes = self.sizes.iter();
        let symbols = self.function.symbols.iter();
        let symbols: Vec<i64> = symbols
            .map(|symbol| match symbol.kind {
                SymbolKind::Size => sizes.next().copied().unwrap_or(1),
                SymbolKind::Value(_) | SymbolKind::Time => 1,
            })
            .collect();
        // What templates compute again is no statement of its own.
        let Ok(stitched) = Stitched::new(self.function, None, options) else {
            return f64::MAX;
        };
        let estimate = Estimate {
            function: &stitched.function,
            symbols: &symbols,
            figures: self.figures,
        };
        stitched
            .steps()
            .map_or(f64::MAX, |steps| estimate.steps(&steps))
    }

    /// What it is known by.
    fn key(&self) -> String {
        key(self.function, self.options, self.figures)
    }
}

/// What a definition is known by: what it says, what its options fix, and the device.
pub fn key(function: &Function, options: Options, figures: &Figures) -> String {
    let kept = (options.reductions, options.scatter);
    let what = canonical::key(function);
    format!("{what:016x} {kept:?} {}", figures.name)
}

/// Whether options leave open what is tuned: what somebody asks for is not replaced by what is known.
pub fn are_open(options: Options) -> bool {
    let fixed = Options {
        reductions: options.reductions,
        scatter: options.scatter,
        ..Options::default()
    };
    options == fixed
}

/// Values of each axis, the given ones first.
struct Genes {
    /// With the schedules of templates.
    mappings: Vec<(Mapping, Teams)>,
    strategies: Vec<Strategy>,
    /// Rows; none: tiles by the rule.
    rows: Vec<Option<u16>>,
    columns: Vec<u16>,
    strips: Vec<u16>,
    /// None: by the rule.
    stages: Vec<Option<u8>>,
    shared: Vec<SharedMemory>,
    cores: Vec<TensorCores>,
}

impl Genes {
    fn of(request: &Request<'_>) -> Self {
        fn given_first<T: PartialEq + Copy>(given: T, all: &[T]) -> Vec<T> {
            let others = all.iter().copied().filter(|each| *each != given);
            std::iter::once(given).chain(others).collect()
        }
        let options = request.options;
        let tile = options.tile.unwrap_or_default();
        let sides = sides(request.sizes);
        let given = options.tile.map(|tile| tile.rows);
        let others = sides.iter().copied().map(Some);
        let others = others.filter(|side| *side != given);
        let rows = std::iter::once(given).chain(others).collect();
        Self {
            mappings: given_first(
                (options.mapping, options.teams),
                &[
                    (Mapping::Auto, Teams::Any),
                    (Mapping::Tiled, Teams::Any),
                    (Mapping::Parallel, Teams::Any),
                    (Mapping::Stitched, Teams::Any),
                    (Mapping::Stitched, Teams::Elements),
                    (Mapping::Stitched, Teams::Blocks),
                    (Mapping::Stitched, Teams::Lanes),
                    (Mapping::Stitched, Teams::Columns),
                ],
            ),
            strategies: given_first(
                options.fusion,
                &[
                    Strategy::Auto,
                    Strategy::Minimal,
                    Strategy::Maximal,
                    Strategy::ThreeParallel,
                ],
            ),
            rows,
            columns: given_first(tile.columns, &sides),
            strips: given_first(tile.strip, &strips(request.sizes)),
            stages: given_first(options.stages, &[None, Some(1), Some(2), Some(3)]),
            shared: given_first(options.shared, &[SharedMemory::On, SharedMemory::Off]),
            cores: match has_halves(request.function) {
                true => given_first(options.tensor_cores, &[TensorCores::On, TensorCores::Off]),
                false => vec![options.tensor_cores],
            },
        }
    }

    fn lengths(&self) -> [usize; 8] {
        [
            self.mappings.len(),
            self.strategies.len(),
            self.rows.len(),
            self.columns.len(),
            self.strips.len(),
            self.stages.len(),
            self.shared.len(),
            self.cores.len(),
        ]
    }

    fn options(&self, given: Options, genome: &Genome) -> Options {
        Options {
            mapping: self.mappings[genome[0]].0,
            teams: self.mappings[genome[0]].1,
            fusion: self.strategies[genome[1]],
            tile: self.rows[genome[2]].map(|rows| TileSizes {
                rows,
                columns: self.columns[genome[3]],
                strip: self.strips[genome[4]],
            }),
            stages: self.stages[genome[5]],
            shared: self.shared[genome[6]],
            tensor_cores: self.cores[genome[7]],
            ..given
        }
    }
}

/// Whether tensor cores may find something to multiply.
fn has_halves(function: &Function) -> bool {
    let mut scalars = function.tensors.iter().map(|tensor| tensor.scalar);
    scalars.any(|scalar| matches!(scalar, Scalar::Half | Scalar::Bfloat16))
}

/// Sides of tiles: powers of two, and parts of the sizes, in multiples of 16.
fn sides(sizes: &[i64]) -> Vec<u16> {
    let most = sizes
        .iter()
        .max()
        .map_or(128, |size| (*size).clamp(16, 128));
    let parts = sizes
        .iter()
        .flat_map(|size| (1..=8).map(move |parts| (size + parts - 1) / parts));
    let parts = parts.map(|part| (part + 15) / 16 * 16);
    let mut all: Vec<u16> = [16, 32, 64, 128]
        .into_iter()
        .chain(parts)
        .filter(|side| (16..=(most + 15) / 16 * 16).contains(side))
        .filter_map(|side| u16::try_from(side).ok())
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Lengths of strips: powers of two, and sizes that fit whole.
fn strips(sizes: &[i64]) -> Vec<u16> {
    let whole = sizes
        .iter()
        .filter(|size| **size % 4 == 0 && (4..=64).contains(*size));
    let whole = whole.filter_map(|size| u16::try_from(*size).ok());
    let mut all: Vec<u16> = [8, 16, 32].into_iter().chain(whole).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Spaces of so many genomes are gone through.
const FEW: usize = 48;
/// Generations behind the first one.
const GENERATIONS: usize = 4;
/// Genomes of one.
const CHILDREN: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::check;

    fn function(text: &str) -> Function {
        check(text).expect("it is right").remove(0)
    }

    fn request<'r>(function: &'r Function, sizes: &'r [i64]) -> Request<'r> {
        Request {
            function,
            sizes,
            options: Options::default(),
            figures: Figures::of(crate::build::Device::Cuda, 80),
            seed: 0,
            budget: Duration::from_secs(60),
        }
    }

    const PRODUCT: &str =
        "def tmm(float(M,K) A, float(N,K) B) -> (C) { C(m,n) +=! A(m,k) * B(n,k) }";

    #[test]
    fn a_product_is_tiled_and_what_is_found_is_no_worse_than_what_is_given() {
        let product = function(PRODUCT);
        for sizes in [[128, 32, 256], [1024, 1024, 1024]] {
            let request = request(&product, &sizes);
            let (options, nanoseconds) = request.search();
            assert!(nanoseconds <= request.estimate(Options::default()));
            assert_ne!(options.mapping, Mapping::Parallel, "{sizes:?}");
            // The same again.
            assert_eq!(request.search(), (options, nanoseconds));
        }
        let sizes = [1024; 3];
        let of = |mapping| {
            request(&product, &sizes).estimate(Options {
                mapping,
                ..Options::default()
            })
        };
        let all = [Mapping::Tiled, Mapping::Parallel, Mapping::Identity].map(of);
        assert!(all[0] < all[1] && all[1] < all[2], "{all:?}");
    }

    #[test]
    fn what_is_known_is_taken_whatever_the_names_are() {
        let product = function(PRODUCT);
        let sizes = [128, 32, 256];
        let mut known = Known::default();
        let mut by_hand = request(&product, &sizes).answered(&mut known);
        by_hand.options = vec!["--sirius-tc-tile=16,32,8".to_owned()];
        by_hand.nanoseconds = None;
        known.keep(by_hand.clone());
        let renamed =
            function("def f(float(R,S) W, float(T,S) V) -> (O) { O(x,y) +=! W(x,z) * V(y,z) }");
        assert_eq!(request(&renamed, &sizes).answered(&mut known), by_hand);
        let given = by_hand
            .apply(&renamed, Options::default())
            .map(|chosen| chosen.options.tile);
        assert_eq!(given, Ok(TileSizes::parse("16,32,8").ok()));
        // Other sizes, and another order of terms, are other requests.
        assert_ne!(
            request(&renamed, &[128, 32, 257]).answered(&mut known),
            by_hand
        );
        by_hand.options = vec!["--sirius-tc-scatter=atomic".to_owned()];
        assert!(by_hand.apply(&renamed, Options::default()).is_err());
    }

    #[test]
    fn a_template_that_is_known_is_taken_under_other_names_and_refused_where_it_is_wrong() {
        let softmax = function(
            "def softmax(float(N,D) I) -> (O, m, s) {\n m(n) max=! I(n,d)\n s(n) +=! exp(I(n,d) - m(n))\n \
             O(n,d) = exp(I(n,d) - m(n)) / s(n)\n}",
        );
        let options = Options {
            mapping: Mapping::Stitched,
            ..Options::default()
        };
        let mut entry = Entry::of(&request(&softmax, &[64; 2]), options, 1.0);
        assert_eq!(entry.template[0], "template softmax {");
        let renamed = function(
            "def f(float(A,B) m) -> (I, s, O) {\n s(x) max=! m(x,y)\n O(x) +=! exp(m(x,y) - s(x))\n \
             I(x,y) = exp(m(x,y) - s(x)) / O(x)\n}",
        );
        let own = crate::tensor::stitch::chosen(&renamed, options);
        let taken = entry.apply(&renamed, options).expect("it says the same");
        assert_eq!(taken.template.as_ref(), Some(&own));
        for (name, text) in [
            (
                "elements",
                "template f { kernel elements { m: thread s: thread O: thread } }",
            ),
            ("statement", "template f { kernel row 1 { m: block } }"),
            ("two", "template f { } template g { }"),
            ("text", "template {"),
        ] {
            entry.template = vec![text.to_owned()];
            assert!(entry.apply(&softmax, options).is_err(), "{name}");
        }
    }

    #[test]
    fn what_is_found_is_said_in_options_and_read_from_them_again() {
        let product = function(&PRODUCT.replace("float", "half"));
        let genes = Genes::of(&request(&product, &[64; 3]));
        let lengths = genes.lengths();
        assert!(lengths.iter().all(|length| *length > 1), "{lengths:?}");
        for genome in first_generation(&lengths, 0) {
            let options = genes.options(Options::default(), &genome);
            let entry = Entry::of(&request(&product, &[64; 3]), options, 1.0);
            let chosen = entry.apply(&product, Options::default());
            assert_eq!(chosen.map(|chosen| chosen.options), Ok(options));
            assert_eq!(are_open(options), options == Options::default());
        }
        // Without halves there is nothing for tensor cores.
        let genes = Genes::of(&request(&function(PRODUCT), &[64; 3]));
        assert_eq!(genes.lengths()[7], 1);
    }

    #[test]
    fn a_file_of_what_is_known_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().expect("there is a folder");
        let path = folder.path().join("known.json");
        let product = function(PRODUCT);
        let mut known = Known::default();
        assert_eq!(Known::read(&path).expect("there is none"), known);
        request(&product, &[64, 64, 64]).answered(&mut known);
        known.write(&path).expect("it can be written");
        assert_eq!(Known::read(&path).expect("it is right"), known);
        std::fs::write(&path, "{\"entries\": [{}]}").expect("it can be written");
        assert!(matches!(Known::read(&path), Err(TuningError::Form { .. })));
        let sizes = sizes_of(&product, &[("M".to_owned(), 1)]);
        assert!(matches!(sizes, Err(TuningError::NoSize { size, .. }) if size == "K"));
    }
}
