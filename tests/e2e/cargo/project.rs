//! A workspace with what can matter to a test in Rust.

pub const WORKSPACE: &str = r#"
-- Cargo.toml --
[workspace]
members = ["app", "calc", "made", "naming"]
resolver = "2"
-- naming/Cargo.toml --
[package]
name = "naming"
version = "0.1.0"
edition = "2021"
[lib]
proc-macro = true
doctest = false
test = false
-- naming/src/lib.rs --
use proc_macro::TokenStream;

mod words;

#[proc_macro_derive(Named)]
pub fn named(input: TokenStream) -> TokenStream {
    let text = input.to_string();
    let name = words::after(&text, "struct");
    format!("impl {name} {{ pub fn name() -> &'static str {{ \"{name}\" }} }}").parse().unwrap()
}
-- naming/src/words.rs --
pub fn after(text: &str, word: &str) -> String {
    let rest = text.split(word).nth(1).unwrap();
    rest.chars().filter(|c| !c.is_whitespace()).take_while(|c| c.is_alphanumeric()).collect()
}
-- calc/Cargo.toml --
[package]
name = "calc"
version = "0.1.0"
edition = "2021"
[lib]
doctest = false
[features]
loud = []
-- calc/src/lib.rs --
//! Numbers.

use std::sync::LazyLock;

pub mod shapes;

/// Adds.
pub fn add(a: i64, b: i64) -> i64 {
    a + b
}

pub fn sub(a: i64, b: i64) -> i64 {
    a - b
}

pub fn nobody(a: i64) -> i64 {
    a * 7
}

pub fn max<T: PartialOrd>(a: T, b: T) -> T {
    if a > b { a } else { b }
}

const fn base() -> usize {
    3
}

pub const LIMIT: usize = base() + 1;

pub static TABLE: LazyLock<Vec<i64>> = LazyLock::new(|| fill(4));

fn fill(count: i64) -> Vec<i64> {
    (0..count).map(|n| add(n, n)).collect()
}

#[macro_export]
macro_rules! twice {
    ($value:expr) => {
        $crate::add($value, $value)
    };
}

pub async fn later(a: i64) -> i64 {
    sub(a, 1)
}

#[inline(always)]
pub fn copied(a: i64) -> i64 {
    a + 40
}

pub fn loudly() -> &'static str {
    if cfg!(feature = "loud") { "LOUD" } else { "quiet" }
}

pub struct Wrapped(pub String);

pub trait Words {
    fn words(&self) -> usize;
}

impl Words for Wrapped {
    fn words(&self) -> usize {
        self.0.split(' ').count()
    }
}

pub fn count(wrapped: &Wrapped) -> usize {
    wrapped.words()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    fn helper(a: i64) -> i64 {
        a
    }

    #[test]
    fn adds() {
        assert_eq!(helper(add(1, 2)), 3);
    }

    #[test]
    fn subs() {
        assert_eq!(sub(3, 2), 1);
    }

    #[test]
    fn compares() {
        assert_eq!(max(1, 2), 2);
    }

    #[test]
    fn knows_a_limit() {
        assert_eq!(LIMIT, 4);
    }

    #[test]
    fn has_a_table() {
        assert_eq!(TABLE[3], 6);
    }

    #[test]
    fn doubles() {
        assert_eq!(twice!(4), 8);
    }

    #[test]
    fn in_a_thread() {
        let other = std::thread::spawn(|| sub(9, 1));
        assert_eq!(other.join().unwrap(), 8);
    }

    #[test]
    fn waits() {
        let mut future = pin!(later(3));
        let ready = future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert_eq!(ready, Poll::Ready(2));
    }

    #[test]
    fn copies() {
        assert_eq!(copied(2), 42);
    }

    #[test]
    fn is_quiet() {
        assert_eq!(loudly(), "quiet");
    }

    #[test]
    fn counts() {
        assert_eq!(count(&Wrapped("a b".into())), 2);
    }

    #[test]
    #[should_panic(expected = "overflow")]
    fn overflows() {
        add(i64::MAX, 1);
    }

    #[test]
    #[ignore]
    fn slow() {
        panic!();
    }
}
-- calc/src/shapes.rs --
use std::fmt;

pub trait Shape {
    fn area(&self) -> f64;

    fn describe(&self) -> String {
        format!("a shape of {}", self.area())
    }
}

#[derive(Clone, Debug)]
pub struct Square(pub f64);

impl Shape for Square {
    fn area(&self) -> f64 {
        self.0 * self.0
    }
}

impl fmt::Display for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}]", self.0)
    }
}

impl Drop for Square {
    fn drop(&mut self) {
        closed(self.0);
    }
}

fn closed(_side: f64) {}

pub fn all() -> Vec<Box<dyn Shape>> {
    vec![Box::new(Square(2.0))]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn are_described() {
        assert_eq!(all()[0].describe(), "a shape of 4");
    }

    #[test]
    fn are_shown() {
        assert_eq!(Square(1.5).to_string(), "[1.5]");
    }
}
-- app/Cargo.toml --
[package]
name = "app"
version = "0.1.0"
edition = "2021"
[dependencies]
calc = { path = "../calc" }
made = { path = "../made" }
naming = { path = "../naming" }
[[test]]
name = "plain"
harness = false
-- made/Cargo.toml --
[package]
name = "made"
version = "0.1.0"
edition = "2021"
[lib]
doctest = false
test = false
-- made/src/lib.rs --
include!(concat!(env!("OUT_DIR"), "/words.rs"));

pub const GREETING: &str = env!("GREETING");
-- made/build.rs --
use std::{env, fs, path::Path};

fn main() {
    println!("cargo:rerun-if-changed=words.txt");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=APP_GREETING");
    let greeting = env::var("APP_GREETING").unwrap_or_else(|_| "hello".into());
    println!("cargo:rustc-env=GREETING={greeting}");
    let words = fs::read_to_string("words.txt").unwrap();
    let code = format!("pub const WORDS: usize = {};", words.split_whitespace().count());
    fs::write(Path::new(&env::var("OUT_DIR").unwrap()).join("words.rs"), code).unwrap();
}
-- made/words.txt --
one two three
-- app/src/lib.rs --
//! The app.
//!
//! ```
//! assert_eq!(app::total(&[1, 2]), 3);
//! ```

use naming::Named;

pub const BANNER: &str = include_str!("banner.txt");

#[derive(Named)]
pub struct Thing;

pub fn total(numbers: &[i64]) -> i64 {
    numbers.iter().fold(0, |sum, one| calc::add(sum, *one))
}

pub fn mode() -> &'static str {
    option_env!("APP_MODE").unwrap_or("normal")
}

pub fn setting(name: &str) -> Option<String> {
    let text = std::fs::read_to_string("data/settings.txt").ok()?;
    let mut lines = text.lines();
    lines.find_map(|line| line.strip_prefix(name)?.strip_prefix('=').map(str::to_owned))
}

pub fn has_override() -> bool {
    std::path::Path::new("data/override.txt").exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_a_banner() {
        assert_eq!(BANNER, "welcome\n");
    }

    #[test]
    fn has_words() {
        assert_eq!(made::WORDS, 3);
    }

    #[test]
    fn greets() {
        assert_eq!(made::GREETING, "hello");
    }

    #[test]
    fn has_a_mode() {
        assert_eq!(mode(), "normal");
    }

    #[test]
    fn has_settings() {
        assert_eq!(setting("a").unwrap(), "1");
    }

    #[test]
    fn has_no_override() {
        assert!(!has_override());
    }

    #[test]
    fn is_named() {
        assert_eq!(Thing::name(), "Thing");
    }

    #[test]
    fn lists_data() {
        assert_eq!(std::fs::read_dir("data").unwrap().count(), 1);
    }

    #[test]
    fn writes() {
        let file = std::env::temp_dir().join(format!("app-{}", std::process::id()));
        std::fs::write(&file, "x").unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"x");
        std::fs::remove_file(file).unwrap();
    }

    #[test]
    fn sees_a_variable() {
        assert_eq!(std::env::var("APP_LEVEL").unwrap_or_default(), "");
    }
}
-- app/src/banner.txt --
welcome
-- app/data/settings.txt --
a=1
b=2
-- app/src/main.rs --
mod text;

fn main() {
    let words: Vec<i64> = std::env::args().skip(1).map(|word| word.parse().unwrap()).collect();
    println!("{}", text::line(app::total(&words)));
}
-- app/src/text.rs --
pub fn line(number: i64) -> String {
    format!("total {number}")
}

#[test]
fn lines() {
    assert_eq!(line(1), "total 1");
}
-- app/tests/it.rs --
mod common;

use std::process::Command;

#[test]
fn program() {
    let done = Command::new(env!("CARGO_BIN_EXE_app")).args(["1", "2"]).output().unwrap();
    assert_eq!(done.stdout, b"total 3\n");
}

#[test]
fn script() {
    let script = format!("'{}' 4 | tr a-z A-Z", env!("CARGO_BIN_EXE_app"));
    let done = Command::new("sh").args(["-c", &script]).output().unwrap();
    assert_eq!(done.stdout, b"TOTAL 4\n");
}

#[test]
fn totals() {
    assert_eq!(app::total(&common::numbers()), 6);
}

#[test]
fn shapes() {
    use calc::shapes::Shape;
    assert_eq!(calc::shapes::Square(3.0).area(), 9.0);
}
-- app/tests/common/mod.rs --
pub fn numbers() -> Vec<i64> {
    vec![1, 2, 3]
}
-- app/tests/plain.rs --
fn main() {
    assert_eq!(calc::sub(2, 1), 1);
}
"#;
