//! Orders for several machines that keep what is known of dependences [B 3.4].

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use super::closure::Manifest;
use super::suite::Test;
use super::{Order, Suite};

/// How tests are spread: `order schedule --policy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Policy {
    /// Tests that have to do with one another stay on one worker; none runs twice: the
    /// naive scheduler of [B 4.3].
    Chains,
    /// A setter runs on each worker that needs it, where that ends sooner [B 3.4].
    Greedy,
    /// Tests are spread as if none depended on another; one that ends otherwise than in
    /// the full run is run again behind its setters [B 3.4].
    Speculative,
    /// As [`Chains`](Policy::Chains); tests that are likely to fail come first.
    LikelyFailures,
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Policy::Chains => "chains",
            Policy::Greedy => "greedy",
            Policy::Speculative => "speculative",
            Policy::LikelyFailures => "likely-failures",
        })
    }
}

impl FromStr for Policy {
    type Err = String;

    fn from_str(text: &str) -> Result<Policy, String> {
        match text {
            "chains" => Ok(Policy::Chains),
            "greedy" => Ok(Policy::Greedy),
            "speculative" => Ok(Policy::Speculative),
            "likely-failures" => Ok(Policy::LikelyFailures),
            _ => Err(format!(
                "there is no policy '{text}': chains, greedy, speculative, likely-failures"
            )),
        }
    }
}

/// An order for each worker.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Schedule {
    pub(crate) workers: Vec<Order>,
    /// Seconds that the longest of them takes.
    pub(crate) seconds: f64,
    /// Tests that run on more than one worker, each time but the first.
    pub(crate) repeated: usize,
    /// Orders to run if their last test ended otherwise than in the full run.
    pub(crate) again: Vec<Order>,
}

/// Spreads all tests of `suite` over so many workers. `likely` are the tests that are likely
/// to fail, likeliest first; only [`Policy::LikelyFailures`] looks at them.
///
/// Each worker runs its tests in the default order (with `LikelyFailures` groups of them),
/// and what they need: by [`Manifest::close`] they end as in the full run, as far as it is
/// known. So a worker's order comes back to no scope either.
pub(crate) fn schedule(
    suite: &Suite,
    manifest: &Manifest,
    workers: usize,
    policy: Policy,
    likely: &[Test],
) -> Schedule {
    let workers = workers.max(1);
    let parts = match policy {
        Policy::Chains => chains(suite, manifest, workers, false),
        Policy::LikelyFailures => chains(suite, manifest, workers, true),
        Policy::Greedy => greedy(suite, manifest, workers),
        Policy::Speculative => spread(manifest, workers, singles(suite)),
    };
    let seconds = longest(manifest, &parts);
    let repeated = parts.iter().map(BTreeSet::len).sum::<usize>() - suite.len();
    let again = match policy {
        Policy::Speculative => again(suite, manifest, &parts),
        _ => Vec::new(),
    };
    let order = |part: &BTreeSet<Test>| {
        let tests: Vec<Test> = part.iter().copied().collect();
        match policy {
            Policy::LikelyFailures => suite.name(&likeliest(suite, manifest, &tests, likely)),
            _ => suite.name(&tests),
        }
    };
    Schedule {
        workers: parts.iter().map(order).collect(),
        seconds,
        repeated,
        again,
    }
}

fn longest(manifest: &Manifest, parts: &[BTreeSet<Test>]) -> f64 {
    let seconds = parts.iter().map(|part| cost(manifest, part));
    seconds.fold(0.0, f64::max)
}

fn cost<'a>(manifest: &Manifest, tests: impl IntoIterator<Item = &'a Test>) -> f64 {
    tests.into_iter().map(|test| manifest.cost(*test)).sum()
}

fn singles(suite: &Suite) -> Vec<Vec<Test>> {
    suite.all().into_iter().map(|test| vec![test]).collect()
}

/// Groups on workers: the longest first, each where least is.
fn spread(manifest: &Manifest, workers: usize, mut groups: Vec<Vec<Test>>) -> Vec<BTreeSet<Test>> {
    let mut parts = vec![BTreeSet::new(); workers];
    let mut loads = vec![0.0; workers];
    groups.sort_by(|a, b| cost(manifest, b).total_cmp(&cost(manifest, a)));
    for group in groups {
        let least = (0..workers).min_by(|a, b| f64::total_cmp(&loads[*a], &loads[*b]));
        let least = least.unwrap_or_default();
        loads[least] += cost(manifest, &group);
        parts[least].extend(group);
    }
    parts
}

/// Each group of tests that have to do with one another is on one worker, and with
/// `by_scope` each file too, so that groups may change places.
fn chains(
    suite: &Suite,
    manifest: &Manifest,
    workers: usize,
    by_scope: bool,
) -> Vec<BTreeSet<Test>> {
    spread(manifest, workers, groups(suite, manifest, by_scope))
}

/// Tests that have to do with one another, directly or through others.
fn groups(suite: &Suite, manifest: &Manifest, by_scope: bool) -> Vec<Vec<Test>> {
    let mut head: Vec<Test> = suite.all();
    fn find(head: &mut [Test], test: Test) -> Test {
        let above = head[test as usize];
        if above == test {
            return test;
        }
        let top = find(head, above);
        head[test as usize] = top;
        top
    }
    let mut first_of: BTreeMap<u32, Test> = BTreeMap::new();
    let mut ties: Vec<(Test, Test)> = manifest.ties();
    if by_scope {
        for test in suite.all() {
            if let Some(scope) = suite.scopes(test).first() {
                ties.push((*first_of.entry(*scope).or_insert(test), test));
            }
        }
    }
    for (a, b) in ties {
        let (a, b) = (find(&mut head, a), find(&mut head, b));
        head[a.max(b) as usize] = a.min(b);
    }
    let mut groups: BTreeMap<Test, Vec<Test>> = BTreeMap::new();
    for test in suite.all() {
        groups.entry(find(&mut head, test)).or_default().push(test);
    }
    groups.into_values().collect()
}

/// Each test that depends on others goes where it ends soonest, with what it needs and is
/// not there; then the others fill up. Chains, if these end sooner.
fn greedy(suite: &Suite, manifest: &Manifest, workers: usize) -> Vec<BTreeSet<Test>> {
    let tied: BTreeSet<Test> = manifest
        .ties()
        .into_iter()
        .flat_map(|(a, b)| [a, b])
        .collect();
    let with_needs = |test: Test| {
        let closed = manifest.close(&[test].into()).tests;
        (cost(manifest, &closed), test)
    };
    let mut tests: Vec<(f64, Test)> = suite.all().into_iter().map(with_needs).collect();
    tests.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut parts: Vec<BTreeSet<Test>> = vec![BTreeSet::new(); workers];
    let mut loads = vec![0.0; workers];
    let mut placed: BTreeSet<Test> = BTreeSet::new();
    for (_, test) in tests {
        if placed.contains(&test) {
            continue;
        }
        let with = |part: &BTreeSet<Test>| -> BTreeSet<Test> {
            // What no dependence names does not change what others need.
            let mut some: BTreeSet<Test> = part.intersection(&tied).copied().collect();
            some.insert(test);
            let closed = manifest.close(&some).tests;
            closed.difference(part).copied().collect()
        };
        let options = (0..workers).map(|worker| {
            let more = match tied.contains(&test) {
                true => with(&parts[worker]),
                false => [test].into(),
            };
            (loads[worker] + cost(manifest, &more), worker, more)
        });
        if let Some((load, worker, more)) = options.min_by(|a, b| a.0.total_cmp(&b.0)) {
            placed.extend(&more);
            parts[worker].extend(more);
            loads[worker] = load;
        }
    }
    let chains = chains(suite, manifest, workers, false);
    match longest(manifest, &chains) < longest(manifest, &parts) {
        true => chains,
        false => parts,
    }
}

/// For each test whose worker lacks something that it needs: all that it needs, then itself.
fn again(suite: &Suite, manifest: &Manifest, parts: &[BTreeSet<Test>]) -> Vec<Order> {
    let lacking = parts.iter().flat_map(|part| manifest.lacking(part));
    let order = |test: Test| {
        let closed = manifest.close(&[test].into()).tests;
        let before: Vec<Test> = closed.range(..=test).copied().collect();
        suite.name(&before)
    };
    lacking.map(order).collect()
}

/// Groups of `tests` by their likeliest test; in a group the default order.
fn likeliest(suite: &Suite, manifest: &Manifest, tests: &[Test], likely: &[Test]) -> Vec<Test> {
    let rank = |test: &Test| {
        likely
            .iter()
            .position(|other| other == test)
            .unwrap_or(usize::MAX)
    };
    let mut groups = groups(suite, manifest, true);
    groups.retain(|group| group.iter().any(|test| tests.contains(test)));
    groups.sort_by_cached_key(|group| (group.iter().map(rank).min(), group.first().copied()));
    groups.concat()
}
