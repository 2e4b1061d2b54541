//! Which variants are tried: all where there are few, else those that a genetic search comes to.
//!
//! A variant is a *genome*: for each axis of its space a value, 0 as planned. The first generation is the
//! planned variant and all that differ from it in one value. A later one keeps the best, and makes the rest
//! of three parents each, as Tensor Comprehensions (Vasilache et al., 2018) do: a parent is drawn with a
//! probability that grows with its speed, each value is one of the three parents', and now and then a
//! value changes at random. All of it follows from a seed.

use rand::Rng;
use rand::rngs::StdRng;
use std::collections::BTreeSet;

/// A value for each axis of a space.
pub type Genome = Vec<usize>;

/// A genome and what it costs.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluated {
    /// The genome.
    pub genome: Genome,
    /// Nanoseconds, measured or estimated.
    pub nanoseconds: f64,
}

/// The planned variant, then all others where they are at most `most`, else those that differ from it in
/// one value.
pub fn first_generation(sizes: &[usize], most: usize) -> Vec<Genome> {
    let planned = vec![0; sizes.len()];
    let all = sizes
        .iter()
        .try_fold(1_usize, |all, size| all.checked_mul(*size));
    let mut genomes = vec![planned.clone()];
    if all.is_some_and(|all| all <= most) {
        for (axis, size) in sizes.iter().enumerate() {
            for at in 0..genomes.len() {
                let genome = genomes[at].clone();
                genomes.extend((1..*size).map(|value| with(&genome, axis, value)));
            }
        }
        return genomes;
    }
    for (axis, size) in sizes.iter().enumerate() {
        genomes.extend((1..*size).map(|value| with(&planned, axis, value)));
    }
    genomes
}

fn with(genome: &Genome, axis: usize, value: usize) -> Genome {
    let mut genome = genome.clone();
    genome[axis] = value;
    genome
}

/// Up to `count` genomes that are not among those that were evaluated, made of the best of these.
pub fn next_generation(
    evaluated: &[Evaluated],
    sizes: &[usize],
    count: usize,
    random: &mut StdRng,
) -> Vec<Genome> {
    let mut known: BTreeSet<Genome> = evaluated.iter().map(|each| each.genome.clone()).collect();
    let mut parents: Vec<&Evaluated> = evaluated.iter().collect();
    parents.sort_by(|one, other| one.nanoseconds.total_cmp(&other.nanoseconds));
    parents.truncate(MOST_PARENTS);
    let mut made = Vec::new();
    // Small spaces run out of genomes that are new.
    for _ in 0..count * ATTEMPTS {
        if parents.is_empty() || made.len() == count {
            break;
        }
        let three = [(); 3].map(|()| drawn(&parents, random));
        let mut genome: Genome = (0..sizes.len())
            .map(|axis| three[random.random_range(0..three.len())].genome[axis])
            .collect();
        for (value, size) in genome.iter_mut().zip(sizes) {
            if random.random_bool(MUTATION) {
                *value = random.random_range(0..*size);
            }
        }
        if known.insert(genome.clone()) {
            made.push(genome);
        }
    }
    made
}

/// One of them, with a probability in proportion to its speed above the slowest.
fn drawn<'a>(parents: &[&'a Evaluated], random: &mut StdRng) -> &'a Evaluated {
    let slowest = parents
        .iter()
        .map(|each| each.nanoseconds)
        .fold(1.0, f64::max);
    let weight = |each: &Evaluated| (slowest / each.nanoseconds.max(1.0)).powi(2);
    let total: f64 = parents.iter().map(|each| weight(each)).sum();
    let mut place = random.random_range(0.0..total);
    for parent in parents {
        place -= weight(parent);
        if place < 0.0 {
            return parent;
        }
    }
    parents[parents.len() - 1]
}

/// Genomes that may be parents.
const MOST_PARENTS: usize = 10;
/// How often a value changes at random.
const MUTATION: f64 = 0.1;
/// Attempts for each genome that is wanted.
const ATTEMPTS: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    /// Each value that is not the best one of its axis costs.
    fn cost(genome: &Genome, best: &[usize]) -> f64 {
        let wrong = genome
            .iter()
            .zip(best)
            .filter(|(value, best)| value != best);
        100.0 + 50.0 * wrong.count() as f64
    }

    fn search(seed: u64, sizes: &[usize], best: &[usize], rounds: usize) -> Vec<Evaluated> {
        let mut random = StdRng::seed_from_u64(seed);
        let evaluate = |genome: Genome| Evaluated {
            nanoseconds: cost(&genome, best),
            genome,
        };
        let first = first_generation(sizes, 16);
        let mut all: Vec<Evaluated> = first.into_iter().map(evaluate).collect();
        for _ in 0..rounds {
            let next = next_generation(&all, sizes, 8, &mut random);
            all.extend(next.into_iter().map(evaluate));
        }
        all
    }

    #[test]
    fn few_variants_are_all_tried() {
        let genomes = first_generation(&[3, 2, 1, 2], 12);
        let different: BTreeSet<_> = genomes.iter().collect();
        assert_eq!((genomes.len(), different.len()), (12, 12));
        assert_eq!(genomes[0], [0; 4]);
        // One change each.
        assert_eq!(first_generation(&[3, 2, 1, 2], 11).len(), 5);
    }

    #[test]
    fn a_seed_makes_a_search() {
        let (sizes, best) = ([6, 2, 2, 2, 3, 2], [4, 1, 0, 1, 2, 1]);
        let one = search(1, &sizes, &best, 6);
        assert_eq!(one, search(1, &sizes, &best, 6));
        assert_ne!(one, search(2, &sizes, &best, 6));
    }

    #[test]
    fn it_comes_to_what_no_single_change_does() {
        let (sizes, best) = ([6, 2, 2, 2, 3, 2], [4, 1, 0, 1, 2, 1]);
        let least = |all: &[Evaluated]| {
            let costs = all.iter().map(|each| each.nanoseconds);
            costs.fold(f64::MAX, f64::min)
        };
        let single = least(&search(3, &sizes, &best, 0));
        assert_eq!(single, 300.0);
        for seed in 0..8 {
            let all = search(seed, &sizes, &best, 8);
            assert!(all.len() < 288 / 2, "{} of 288 were tried", all.len());
            assert!(least(&all) <= 150.0, "seed {seed}: {}", least(&all));
        }
    }

    #[test]
    fn a_space_that_is_known_has_no_more() {
        let all = search(0, &[2, 2], &[1, 1], 0);
        assert_eq!(all.len(), 4);
        let mut random = StdRng::seed_from_u64(0);
        assert!(next_generation(&all, &[2, 2], 4, &mut random).is_empty());
    }
}
