//! Measures the dominators of a synthetic history of 1,000,000 commits, and the classification
//! of one merge once the graph is loaded.
//!
//!     cargo bench --bench history -- [REPOSITORY...]

#![allow(clippy::print_stdout)]

use std::path::Path;
use std::time::{Duration, Instant};

use tamis::exposed::history::{Classifier, Dag, Hints, Repository};

const COMMITS: u32 = 1_000_000;
const MERGES: usize = 200;

fn main() {
    dominators();
    for path in std::env::args().skip(1).filter(|it| !it.starts_with("--")) {
        merges(Path::new(&path));
    }
}

/// Branches of 1 to 40 commits that start up to 50 commits back on the main line.
fn dominators() {
    let mut dag = Dag::new();
    let mut main_line = vec![dag.push(&[])];
    let mut state = 1_u64;
    let mut random = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as usize % below
    };
    while dag.len() < COMMITS {
        let back = 1 + random(50.min(main_line.len()));
        let mut side = main_line[main_line.len() - back];
        for _ in 0..=random(40) {
            side = dag.push(&[side]);
        }
        let tip = main_line[main_line.len() - 1];
        main_line.push(dag.push(&[tip, side]));
    }
    let began = Instant::now();
    let dominators = dag.dominators();
    let took = began.elapsed();
    let known = (0..dag.len()).filter(|node| dominators.immediate(*node).is_some());
    println!("{} dominators: {took:?}", known.count());
}

/// The newest merges of a repository; the first loads the graph.
fn merges(path: &Path) {
    let repository = Repository::discover(path).expect("a repository");
    let head = repository.head().expect("a commit");
    let classifier = Classifier::new(&repository, head.commit).expect("a classifier");
    let mut took: Vec<Duration> = Vec::new();
    for ancestor in repository.ancestors(head.commit) {
        let commit = ancestor.expect("a commit").commit;
        if repository.parents(&commit).expect("parents").ids.len() < 2 {
            continue;
        }
        let revision = repository.revision(commit).expect("a revision");
        let began = Instant::now();
        classifier
            .classify(revision, &Hints::default())
            .expect("a verdict");
        took.push(began.elapsed());
        if took.len() > MERGES {
            break;
        }
    }
    let first = took.remove(0);
    took.sort();
    println!(
        "{}: {} merges, median {:?}, 95 % below {:?}; the first, with the graph, {first:?}",
        path.display(),
        took.len(),
        took[took.len() / 2],
        took[took.len() * 95 / 100]
    );
}
