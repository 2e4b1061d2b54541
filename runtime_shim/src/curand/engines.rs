//! The generators' sequences of 32-bit numbers.
//!
//! XORWOW and MRG32k3a are many sequences that lie far apart in one: the n-th number is number n / 4096 of
//! sequence n % 4096, as cuRAND's manual says of its legacy order, and the sequences are those that
//! `curand_init` of `curand_kernel.h` makes. Philox counts: number n is word n % 4 of block n / 4 of its first
//! sequence. The Mersenne Twister is MT19937 for both of cuRAND's names of one: the parameters of its MTGP32
//! are a table of NVIDIA's, so that those numbers are others than on a GPU, and so may be MT19937's, whose
//! order on a GPU is not told.

/// Sequences side by side.
const SEQUENCES: usize = 4096;

/// A family of sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Marsaglia's xorshift of 160 bits with a Weyl sequence.
    Xorwow,
    /// L'Ecuyer's combined recurrence.
    Mrg32k3a,
    /// Matsumoto and Nishimura's twister.
    MersenneTwister,
    /// Salmon's counter-based generator, ten rounds.
    Philox,
}

/// Where a generator is in its sequences.
pub struct Engine {
    states: States,
    /// The sequence that gives the next number.
    next: usize,
}

enum States {
    Xorwow(Vec<Xorwow>),
    Mrg(Vec<Mrg>),
    Twister(Box<Twister>),
    Philox {
        key: [u32; 2],
        counter: u128,
        word: usize,
    },
}

impl Engine {
    /// The generator of a seed, so many results behind its start.
    pub fn new(family: Family, seed: u64, offset: u64) -> Self {
        let next = match family {
            Family::Xorwow | Family::Mrg32k3a => (offset % SEQUENCES as u64) as usize,
            _ => 0,
        };
        let each = offset / SEQUENCES as u64;
        let states = match family {
            Family::Xorwow => States::Xorwow(xorwow_states(seed, each, next)),
            Family::Mrg32k3a => States::Mrg(mrg_states(seed, each, next)),
            Family::MersenneTwister => {
                let mut twister = Box::new(Twister::new(seed));
                for _ in 0..offset {
                    twister.draw();
                }
                States::Twister(twister)
            }
            Family::Philox => States::Philox {
                key: [seed as u32, (seed >> 32) as u32],
                counter: u128::from(offset / 4),
                word: (offset % 4) as usize,
            },
        };
        Self { states, next }
    }

    /// So many numbers of 32 bits for the next result.
    pub fn draw<const COUNT: usize>(&mut self) -> [u32; COUNT] {
        let sequence = self.next;
        self.next = (sequence + 1) % SEQUENCES;
        let mut numbers = [0; COUNT];
        for number in &mut numbers {
            *number = match &mut self.states {
                States::Xorwow(states) => states[sequence].draw(),
                States::Mrg(states) => (states[sequence].draw() * 1.000_000_048_662) as u32,
                States::Twister(twister) => twister.draw(),
                States::Philox { key, counter, word } => {
                    let number = philox(*key, *counter)[*word];
                    *word = (*word + 1) % 4;
                    *counter += u128::from(*word == 0);
                    number
                }
            };
        }
        numbers
    }

    /// Numbers above 0 and up to 1, for the generator that makes such itself.
    pub fn draw_fraction(&mut self) -> Option<f64> {
        let States::Mrg(states) = &mut self.states else {
            return None;
        };
        let sequence = self.next;
        self.next = (sequence + 1) % SEQUENCES;
        Some(states[sequence].draw() * 2.328_306_549_837_829e-10)
    }
}

#[derive(Clone, Copy, Default)]
struct Xorwow {
    bits: [u32; 5],
    weyl: u32,
}

impl Xorwow {
    fn new(seed: u64) -> Self {
        let first = 1_099_087_573_u32.wrapping_mul(seed as u32 ^ 0xaad2_6b49);
        let second = 2_591_861_531_u32.wrapping_mul((seed >> 32) as u32 ^ 0xf7dc_efdd);
        Self {
            bits: [
                123_456_789_u32.wrapping_add(first),
                362_436_069 ^ first,
                521_288_629_u32.wrapping_add(second),
                88_675_123 ^ second,
                5_783_321_u32.wrapping_add(first),
            ],
            weyl: 6_615_241_u32.wrapping_add(second).wrapping_add(first),
        }
    }

    fn draw(&mut self) -> u32 {
        self.bits = xorshift(self.bits);
        self.weyl = self.weyl.wrapping_add(362_437);
        self.bits[4].wrapping_add(self.weyl)
    }
}

fn xorshift([a, b, c, d, e]: [u32; 5]) -> [u32; 5] {
    let first = a ^ a >> 2;
    [b, c, d, e, (e ^ e << 4) ^ (first ^ first << 1)]
}

/// A linear map of 160 bits, by what becomes of each bit.
type BitMatrix = Vec<[u32; 5]>;

fn apply(matrix: &BitMatrix, bits: [u32; 5]) -> [u32; 5] {
    let mut sum = [0; 5];
    for (word, value) in bits.iter().enumerate() {
        for bit in 0..32 {
            if value >> bit & 1 != 0 {
                let column = matrix[word * 32 + bit];
                for (sum, part) in sum.iter_mut().zip(column) {
                    *sum ^= part;
                }
            }
        }
    }
    sum
}

fn one_step() -> BitMatrix {
    (0..160)
        .map(|bit| {
            let mut unit = [0; 5];
            unit[bit / 32] = 1 << (bit % 32);
            xorshift(unit)
        })
        .collect()
}

fn squared(matrix: &BitMatrix) -> BitMatrix {
    matrix.iter().map(|column| apply(matrix, *column)).collect()
}

/// Sequences begin 2^67 numbers apart. So many of each, and one more of the first few, are behind.
fn xorwow_states(seed: u64, each: u64, more: usize) -> Vec<Xorwow> {
    let mut first = Xorwow::new(seed);
    let mut power = one_step();
    for bit in 0..67 {
        if bit < 64 && each >> bit & 1 != 0 {
            first.bits = apply(&power, first.bits);
        }
        power = squared(&power);
    }
    first.weyl = first
        .weyl
        .wrapping_add(362_437_u32.wrapping_mul(each as u32));
    let mut states = Vec::with_capacity(SEQUENCES);
    for _ in 0..SEQUENCES {
        states.push(first);
        first.bits = apply(&power, first.bits);
    }
    for state in &mut states[..more] {
        state.draw();
    }
    states
}

const FIRST_MODULUS: u64 = 4_294_967_087;
const SECOND_MODULUS: u64 = 4_294_944_443;

#[derive(Clone, Copy)]
struct Mrg {
    first: [u64; 3],
    second: [u64; 3],
}

impl Mrg {
    fn new(seed: u64) -> Self {
        let start = 12345_u64;
        let (low, high) = match seed {
            0 => (1, 1),
            _ => (
                u64::from(seed as u32 ^ 0x5555_5555),
                u64::from((seed >> 32) as u32 ^ 0xaaaa_aaaa),
            ),
        };
        Self {
            first: [low, high, low].map(|factor| factor * start % FIRST_MODULUS),
            second: [high, low, high].map(|factor| factor * start % SECOND_MODULUS),
        }
    }

    /// Between 1 and the first modulus.
    fn draw(&mut self) -> f64 {
        self.first = times(&FIRST_STEP, self.first, FIRST_MODULUS);
        self.second = times(&SECOND_STEP, self.second, SECOND_MODULUS);
        let (one, other) = (self.first[2], self.second[2]);
        let difference = match one <= other {
            true => one + FIRST_MODULUS - other,
            false => one - other,
        };
        difference as f64
    }
}

type Matrix = [[u64; 3]; 3];

const FIRST_STEP: Matrix = [
    [0, 1, 0],
    [0, 0, 1],
    [FIRST_MODULUS - 810_728, 1_403_580, 0],
];
const SECOND_STEP: Matrix = [
    [0, 1, 0],
    [0, 0, 1],
    [SECOND_MODULUS - 1_370_589, 0, 527_612],
];

fn times(matrix: &Matrix, vector: [u64; 3], modulus: u64) -> [u64; 3] {
    matrix.map(|row| {
        let products = row
            .iter()
            .zip(vector)
            .map(|(one, other)| one * other % modulus);
        products.sum::<u64>() % modulus
    })
}

fn product(left: &Matrix, right: &Matrix, modulus: u64) -> Matrix {
    let column = |n: usize| right.map(|row| row[n]);
    let columns = [0, 1, 2].map(|n| times(left, column(n), modulus));
    [0, 1, 2].map(|row| [columns[0][row], columns[1][row], columns[2][row]])
}

/// Sequences begin 2^76 numbers apart.
fn mrg_states(seed: u64, each: u64, more: usize) -> Vec<Mrg> {
    let mut state = Mrg::new(seed);
    let mut powers = [FIRST_STEP, SECOND_STEP];
    let moduli = [FIRST_MODULUS, SECOND_MODULUS];
    for bit in 0..76 {
        if bit < 64 && each >> bit & 1 != 0 {
            state.first = times(&powers[0], state.first, moduli[0]);
            state.second = times(&powers[1], state.second, moduli[1]);
        }
        powers = std::array::from_fn(|n| product(&powers[n], &powers[n], moduli[n]));
    }
    let mut states = Vec::with_capacity(SEQUENCES);
    for _ in 0..SEQUENCES {
        states.push(state);
        state.first = times(&powers[0], state.first, moduli[0]);
        state.second = times(&powers[1], state.second, moduli[1]);
    }
    for state in &mut states[..more] {
        state.draw();
    }
    states
}

const TWISTER_WORDS: usize = 624;

struct Twister {
    words: [u32; TWISTER_WORDS],
    at: usize,
}

impl Twister {
    fn new(seed: u64) -> Self {
        let mut words = [0; TWISTER_WORDS];
        words[0] = seed as u32 ^ (seed >> 32) as u32;
        for n in 1..TWISTER_WORDS {
            let before: u32 = words[n - 1];
            words[n] = 1_812_433_253_u32
                .wrapping_mul(before ^ before >> 30)
                .wrapping_add(n as u32);
        }
        Self {
            words,
            at: TWISTER_WORDS,
        }
    }

    fn draw(&mut self) -> u32 {
        if self.at == TWISTER_WORDS {
            for n in 0..TWISTER_WORDS {
                let pair =
                    self.words[n] & 0x8000_0000 | self.words[(n + 1) % TWISTER_WORDS] & 0x7fff_ffff;
                let twist = if pair & 1 == 0 { 0 } else { 0x9908_b0df };
                self.words[n] = self.words[(n + 397) % TWISTER_WORDS] ^ pair >> 1 ^ twist;
            }
            self.at = 0;
        }
        let mut word = self.words[self.at];
        self.at += 1;
        word ^= word >> 11;
        word ^= word << 7 & 0x9d2c_5680;
        word ^= word << 15 & 0xefc6_0000;
        word ^ word >> 18
    }
}

fn philox(key: [u32; 2], counter: u128) -> [u32; 4] {
    let mut words: [u32; 4] = std::array::from_fn(|n| (counter >> (32 * n)) as u32);
    let [mut low, mut high] = key;
    for _ in 0..10 {
        let wide = |factor: u32, word: u32| {
            let product = u64::from(factor) * u64::from(word);
            ((product >> 32) as u32, product as u32)
        };
        let (high_first, low_first) = wide(0xd251_1f53, words[0]);
        let (high_second, low_second) = wide(0xcd9e_8d57, words[2]);
        words = [
            high_second ^ words[1] ^ low,
            low_second,
            high_first ^ words[3] ^ high,
            low_first,
        ];
        low = low.wrapping_add(0x9e37_79b9);
        high = high.wrapping_add(0xbb67_ae85);
    }
    words
}
