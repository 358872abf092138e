//! Measures how long it takes to make rows of a run's traces: reading them, and closing every
//! test over the names that its code can reach, first without any analysis of sources, then
//! with all of them cached by blob id.
//!
//!     python3 benches/real/closing.py        # makes the run, calls this
//!     cargo bench --bench closing -- REPOSITORY TRACES

#![allow(clippy::print_stdout)]

use std::path::Path;
use std::time::Instant;

use bstr::ByteSlice;
use tamis::exposed::history::Repository;
use tamis::exposed::languages::{Cache, Environment, Facts};
use tamis::exposed::observe::{Trace, TraceError, observe, read_traces};
use tamis::exposed::runners::{Started, configured};

const ROUNDS: usize = 5;

fn main() {
    let paths: Vec<String> = std::env::args()
        .skip(1)
        .filter(|it| !it.starts_with("--"))
        .collect();
    let [repository, traces] = &paths[..] else {
        println!("usage: cargo bench --bench closing -- REPOSITORY TRACES");
        return;
    };
    let repository = Repository::discover(Path::new(repository)).expect("a repository");
    let began = Instant::now();
    let (traces, errors) = read_traces(Path::new(traces)).expect("traces");
    println!("reading the traces: {:.0?}", began.elapsed());
    let folder = tempfile::tempdir().expect("a folder");
    for round in 0..ROUNDS {
        close(&repository, &traces, &errors, None, "nothing cached");
        let cache = Cache::open(folder.path()).expect("a cache");
        let name = if round == 0 {
            "the same, and filling the cache"
        } else {
            "all cached"
        };
        close(&repository, &traces, &errors, Some(&cache), name);
    }
}

fn close(
    repository: &Repository,
    traces: &[Trace],
    errors: &[TraceError],
    cache: Option<&Cache>,
    name: &str,
) {
    let view = repository.work_view().expect("a work tree");
    let began = Instant::now();
    let facts = Facts::new(
        &view,
        repository.root(),
        Environment::Elsewhere,
        cache,
        configured,
    );
    let started = Started {
        facts: &facts,
        project: b"".as_bstr(),
        command: &[],
        folder: None,
        variable: &|_| None,
    };
    let collected = observe(traces, errors, &facts, &started, &[]).expect("rows");
    let took = began.elapsed();
    let (tests, units) = (collected.rows.len(), collected.units.len());
    println!("closing {tests} tests over {units} units, {name}: {took:.0?}");
}
