//! Random histories made by git itself, of programs in a toy language that an
//! interpreter runs: no strategy may leave out a test that fails.
//!
//! `TAMIS_GIT_HISTORIES` is how many; `benches/git_histories.sh` asks for many.

mod maker;
mod toy;

use std::collections::BTreeMap;

use maker::Maker;

const HISTORIES: u64 = 12;

#[test]
#[expect(
    clippy::print_stdout,
    reason = "the counts are worth seeing with --nocapture"
)]
fn no_strategy_misses_a_test_in_histories_made_by_git() {
    let wanted = std::env::var("TAMIS_GIT_HISTORIES");
    let histories = wanted.map_or(HISTORIES, |text| text.parse().unwrap());
    let first = std::env::var("TAMIS_GIT_FIRST").map_or(0, |text| text.parse().unwrap());
    let mut used: BTreeMap<&'static str, usize> = BTreeMap::new();
    let (mut checks, mut left_out) = (0, 0);
    for seed in first..first + histories {
        let counts = Maker::one_history(seed);
        checks += counts.checks;
        left_out += counts.left_out;
        for word in counts.used {
            *used.entry(word).or_default() += 1;
        }
        if (seed + 1).is_multiple_of(100) {
            println!(
                "{} histories, {checks} selections: {used:?}",
                seed + 1 - first
            );
        }
    }
    println!("{histories} histories, {checks} selections, {left_out} skips: {used:?}");
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
