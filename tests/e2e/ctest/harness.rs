//! A CMake project for one test.

use std::sync::OnceLock;

use crate::harness::{Endings, Workshop, folder_of, skip};

/// Whether CMake and a compiler are here; CI must have both.
pub fn has_cmake() -> bool {
    static THERE: OnceLock<bool> = OnceLock::new();
    let is_there = *THERE.get_or_init(|| {
        let mut programs = ["ctest", "cmake", "cc", "make"].into_iter();
        cfg!(target_os = "linux") && programs.all(|one| folder_of(one, &[]).is_some())
    });
    if !is_there {
        skip("this needs CMake, make and a compiler of C");
    }
    is_there
}

/// A repository with these files (see `harness::text`).
pub fn project(text: &str) -> Workshop {
    let folder = folder_of("ctest", &[]).unwrap();
    let shop = Workshop::new(text, "build/\nout/\n", &folder.display().to_string(), "");
    shop.sh("test ! -e tests/direct.sh || { chmod +x tests/direct.sh && git commit -qam run; }");
    shop
}

/// What `ctest` itself finds after a build: how each test ended, and its status.
pub fn plain(shop: &Workshop) -> (Endings, i32) {
    let script = "cmake --build build >/dev/null 2>&1 && ctest --test-dir build";
    let done = shop.command("sh", &["-c", script]);
    let text = String::from_utf8_lossy(&done.stdout);
    let told = text.lines().filter_map(told);
    (told.collect(), done.status.code().unwrap_or(-1))
}

/// The test and the outcome in a line such as ` 3/12 Test  #3: adds ....   Passed    0.01 sec`.
fn told(line: &str) -> Option<(String, String)> {
    let (_, line) = line.split_once(" Test ")?;
    let (_, line) = line.split_once(": ")?;
    let (name, rest) = line.split_once(" .")?;
    let outcome = rest.trim_start_matches('.').trim_start_matches([' ', '*']);
    let outcome = match outcome.split_whitespace().next()? {
        "Passed" => "passed",
        "Skipped" => "skipped",
        "Not" => return None,
        _ => "failed",
    };
    Some((name.to_owned(), outcome.to_owned()))
}
