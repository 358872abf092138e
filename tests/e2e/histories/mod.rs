//! Random histories made by git, of programs in a toy language that an interpreter runs: no
//! strategy may leave out a test that fails.
//!
//! `TAMIS_GIT_HISTORIES` gives their number; `benches/git_histories.sh` runs many.

mod maker;
mod toy;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::thread;

use maker::Maker;

const HISTORIES: u64 = 12;

/// The totals of all histories.
#[derive(Default)]
struct Sum {
    histories: u64,
    checks: usize,
    left_out: usize,
    /// For each strategy, the number of histories in which it was computed.
    used: BTreeMap<&'static str, usize>,
}

#[test]
#[expect(
    clippy::print_stdout,
    reason = "the counts are worth seeing with --nocapture"
)]
fn no_strategy_misses_a_test_in_histories_made_by_git() {
    let wanted = std::env::var("TAMIS_GIT_HISTORIES");
    let histories = wanted.map_or(HISTORIES, |text| text.parse().unwrap());
    let first: u64 = std::env::var("TAMIS_GIT_FIRST").map_or(0, |text| text.parse().unwrap());
    let seeds = Mutex::new(first..first + histories);
    let sum = Mutex::new(Sum::default());
    let next = || seeds.lock().unwrap().next();
    let work = || {
        while let Some(seed) = next() {
            let counts = Maker::one_history(seed);
            let mut sum = sum.lock().unwrap();
            sum.histories += 1;
            sum.checks += counts.checks;
            sum.left_out += counts.left_out;
            for word in counts.used {
                *sum.used.entry(word).or_default() += 1;
            }
            if sum.histories.is_multiple_of(100) {
                let (histories, checks) = (sum.histories, sum.checks);
                println!("{histories} histories, {checks} selections: {:?}", sum.used);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let Sum {
        checks,
        left_out,
        used,
        ..
    } = sum.into_inner().unwrap();
    println!(
        "{histories} histories from seed {first}, {checks} selections, {left_out} skips: {used:?}"
    );
    let all = [
        "merge-dom",
        "merge-parents",
        "rebase-parents",
        "cherry-parent",
        "revert-parent",
    ];
    let history = [
        "merge-history",
        "rebase-history",
        "cherry-history",
        "revert-history",
    ];
    for word in all.iter().chain(&history) {
        assert!(used.contains_key(word), "{word} was never used: {used:?}");
    }
    assert!(left_out > checks, "hardly anything is left out");
}
