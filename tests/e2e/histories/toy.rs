//! The toy language. A program is a folder of files. A file is a value and the names of up to
//! two files that it calls. A test is also a file; it passes if the digest of all that it
//! reached is not a multiple of five.

use std::collections::BTreeSet;

use bstr::ByteSlice;
use tamis::exposed::history::View;

pub const UNITS: usize = 5;
pub const TESTS: usize = 4;

/// SplitMix64: small, seeded, the same everywhere.
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.roll() % bound as u64) as usize
    }

    pub fn one_in(&mut self, bound: usize) -> bool {
        self.below(bound) == 0
    }
}

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

pub fn unit(number: usize) -> String {
    format!("u{number}.toy")
}

pub fn test(number: usize) -> String {
    format!("tests/t{number}.toy")
}

/// The id of a test: the runner needs a function in a file.
pub fn test_id(number: usize) -> String {
    format!("{}::t", test(number))
}

/// A file. Its parts are far apart, so that git merges edits of different parts.
pub fn source(dice: &mut Dice, is_test: bool) -> String {
    let far = "#\n#\n#\n#\n";
    let value = dice.below(4);
    let mut call = |always: bool| match always || dice.one_in(2) {
        true => format!("call {}", unit(dice.below(UNITS))),
        false => "call nothing".to_owned(),
    };
    let (one, two) = (call(is_test), call(false));
    format!("value {value}\n{far}{one}\n{far}{two}\n")
}

/// Changes one part of a file.
pub fn edited(dice: &mut Dice, text: &str) -> String {
    let fresh = source(dice, true);
    let part = [0, 5, 10][dice.below(3)];
    let lines = text.lines().zip(fresh.lines()).enumerate();
    let kept = lines.map(|(at, (old, new))| if at == part { new } else { old });
    kept.map(|line| format!("{line}\n")).collect()
}

/// The files that a test reached, and whether it passed.
pub struct Outcome {
    pub files: BTreeSet<String>,
    pub passed: bool,
}

/// Runs a test; `None` if its file does not exist.
pub fn run(view: &View, number: usize) -> Option<Outcome> {
    let read = |path: &str| view.read(path.as_bytes().as_bstr()).unwrap();
    read(&test(number))?;
    let mut files = BTreeSet::new();
    let mut stack = vec![test(number)];
    let mut digest = 7;
    while let Some(path) = stack.pop() {
        if !files.insert(path.clone()) {
            continue;
        }
        let text = read(&path).unwrap_or_default();
        for line in text.to_str().unwrap().lines() {
            match line.split_once(' ') {
                Some(("value", value)) => {
                    digest = mix(digest ^ mix(value.parse::<u64>().unwrap() + 1));
                }
                Some(("call", name)) if name != "nothing" => stack.push(name.to_owned()),
                _ => {}
            }
        }
    }
    Some(Outcome {
        files,
        passed: !digest.is_multiple_of(5),
    })
}
