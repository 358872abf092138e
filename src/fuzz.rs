//! Feeds damaged bytes to the readers of foreign bytes, with a seeded mutator inside the
//! tests. It does not see the code, only the answers of a reader: an input with a new answer
//! is kept and damaged further.
//!
//! This is not cargo-fuzz or bolero. They follow the code only with a nightly compiler or a
//! build of its own, and cannot reach readers that are private. Without that they make
//! random bytes, which end at the first digest.
//!
//! `cargo test` runs a few thousand inputs for each reader. `.ci/fuzz` runs
//! millions, with a limit on the memory of the process.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hasher};
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

/// How many inputs, unless the environment gives a number.
const FEW: u64 = 1500;

/// How many inputs are kept to be damaged further.
const MOST_KEPT: usize = 512;

/// How many answers are distinguished; messages quote parts of the input.
const MOST_ANSWERS: usize = 1 << 16;

/// Numbers at the edges of their types, and those that occur in limits.
const EDGES: [u64; 12] = [
    0,
    1,
    2,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0xffff,
    0x7fff_ffff,
    0xffff_ffff,
    i64::MAX as u64,
    u64::MAX,
];

/// One reader of foreign bytes.
pub(crate) struct Reader<'a> {
    pub name: &'a str,
    /// Complete inputs, from which all others are made.
    pub seeds: Vec<Vec<u8>>,
    /// Pieces with a meaning for the reader.
    pub words: &'a [&'a str],
    /// Corrects digests and lengths, so that the code behind them is reached. Half of the
    /// inputs are corrected.
    pub mend: fn(&mut [u8]),
    /// Reads the bytes, checks the invariants of the result, and describes it.
    pub read: &'a dyn Fn(&[u8]) -> String,
}

impl Reader<'_> {
    /// Fails at the first input that makes the reader panic.
    pub(crate) fn feed(self) {
        let number = |name: &str| {
            let text = std::env::var(name).ok()?;
            text.parse::<u64>().ok()
        };
        let asked = number("TAMIS_FUZZ_RUNS");
        let runs = asked.unwrap_or(FEW);
        let seed = number("TAMIS_FUZZ_SEED").unwrap_or(1);
        let mut random = Random(seed);
        let longest = self.seeds.iter().map(Vec::len).max().unwrap_or(0) * 2 + 256;
        let mut kept = self.seeds.clone();
        let mut answers = HashSet::new();
        let mut slowest = (0, Vec::new());
        for run in 0..runs {
            let mut input = match run as usize {
                first if first < self.seeds.len() => kept[first].clone(),
                _ => {
                    let mut input = kept[random.below(kept.len())].clone();
                    for _ in 0..=random.length(4) {
                        random.damage(&mut input, &kept, self.words);
                    }
                    input.truncate(longest);
                    if random.below(2) == 0 {
                        (self.mend)(&mut input);
                    }
                    input
                }
            };
            let start = Instant::now();
            let read = catch_unwind(AssertUnwindSafe(|| (self.read)(&input)));
            let took = start.elapsed().as_micros();
            let Ok(answer) = read else {
                panic!(
                    "{}: input {run} of seed {seed}: b\"{}\"",
                    self.name,
                    input.escape_ascii()
                );
            };
            if answers.len() < MOST_ANSWERS && answers.insert(shape(&answer)) {
                match kept.len() < MOST_KEPT {
                    true => kept.push(input.clone()),
                    false => {
                        let own = self.seeds.len();
                        let at = own + random.below(kept.len() - own);
                        kept[at].clone_from(&input);
                    }
                }
            }
            if took > slowest.0 {
                slowest = (took, std::mem::take(&mut input));
            }
        }
        if asked.is_some() {
            let (took, input) = slowest;
            let _ = writeln!(
                std::io::stderr(),
                "{}: {runs} inputs of seed {seed}, {} answers, 0 panics, peak {} KiB, slowest {took} µs for {} bytes",
                self.name,
                answers.len(),
                peak_memory(),
                input.len(),
            );
        }
    }
}

/// A digest of an answer without the numbers in it, which would make every answer new.
fn shape(answer: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    let mut last = '0';
    for c in answer.chars().take(160) {
        let c = if c.is_ascii_digit() { '0' } else { c };
        if (c, last) != ('0', '0') {
            hasher.write_u32(c.into());
        }
        last = c;
    }
    hasher.finish()
}

/// The peak memory of this process in KiB; 0 if the system does not tell.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}

/// SplitMix64.
pub(crate) struct Random(pub u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is not 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// A length below two to the power of `most`; all magnitudes are equally likely.
    fn length(&mut self, most: usize) -> usize {
        let power = self.below(most);
        self.below(1 << power)
    }

    /// Changes one place of `input`.
    fn damage(&mut self, input: &mut Vec<u8>, kept: &[Vec<u8>], words: &[&str]) {
        let at = self.below(input.len() + 1);
        let len = self.length(8).min(input.len() - at);
        match self.below(12) {
            0 if at < input.len() => input[at] ^= 1 << self.below(8),
            1 if at < input.len() => input[at] = self.next() as u8,
            2 if at < input.len() => {
                input[at] = input[at].wrapping_add(self.below(7) as u8).wrapping_sub(3)
            }
            3 => self.put_number(&mut input[at..]),
            4 => drop(input.drain(at..at + len)),
            5 => {
                let again = input[at..at + len].to_vec();
                input.splice(at..at, again);
            }
            6 => input.truncate(at),
            7 => self.change_digits(input, at),
            8 | 9 if !words.is_empty() => {
                let word = words[self.below(words.len())].bytes();
                let until = at + len.min(self.below(9));
                input.splice(at..until, word);
            }
            10 => {
                // A piece of another input replaces a piece of this one.
                let other = &kept[self.below(kept.len())];
                let from = self.below(other.len() + 1);
                let until = from + self.length(9).min(other.len() - from);
                input.splice(at..at + len, other[from..until].iter().copied());
            }
            _ => {
                let byte = self.next() as u8;
                let many = self.length(7);
                input.splice(at..at, std::iter::repeat_n(byte, many));
            }
        }
    }

    /// Replaces the number at this place by one at some edge.
    fn put_number(&mut self, place: &mut [u8]) {
        let edge = EDGES[self.below(EDGES.len())].wrapping_sub(self.below(2) as u64);
        let mut bytes = edge.to_le_bytes();
        let width = (1 << self.below(4)).min(place.len());
        if self.below(4) == 0 {
            bytes[..width].reverse();
        }
        place[..width].copy_from_slice(&bytes[..width]);
    }

    /// Replaces the decimal digits at or after `at` by another number.
    fn change_digits(&mut self, input: &mut Vec<u8>, at: usize) {
        let Some(start) = input[at..].iter().position(u8::is_ascii_digit) else {
            return;
        };
        let start = at + start;
        let digits = input[start..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit());
        let end = start + digits.count();
        let edge = EDGES[self.below(EDGES.len())].wrapping_add(self.below(3) as u64);
        input.splice(start..end, edge.to_string().into_bytes());
    }
}

#[test]
#[should_panic = "fragile: input"]
fn a_reader_that_panics_is_found() {
    let fragile = Reader {
        name: "fragile",
        seeds: vec![b"key: 1".to_vec()],
        words: &["secret"],
        mend: |_| {},
        read: &|bytes| {
            assert!(!bytes.windows(6).any(|six| six == b"secret"));
            String::new()
        },
    };
    fragile.feed();
}
