//! Small programs, each with one edit made by hand.

use super::oracle::*;

/// By name: the program before and after.
fn cases() -> Vec<(String, Program, Program)> {
    let mut all: Vec<(String, Program, Program)> = Vec::new();
    let mut path = String::new();
    let mut is_new = false;
    for line in include_str!("cases.txt").lines() {
        if let Some(name) = line.strip_prefix("# ") {
            all.push((name.to_owned(), Program::new(), Program::new()));
            continue;
        }
        let (_, was, is) = all.last_mut().unwrap();
        if let Some(next) = line.strip_prefix("-- ") {
            path = next.to_owned();
            is_new = false;
        } else if line.trim_end() == "==" {
            is_new = true;
            is.remove(&path);
        } else {
            let text = format!("{line}\n");
            if !is_new {
                *was.entry(path.clone()).or_default() += &text;
            }
            *is.entry(path.clone()).or_default() += &text;
        }
    }
    all
}

#[test]
fn every_edit_affects_what_the_compiler_makes_otherwise() {
    if !has_compiler() {
        return;
    }
    let mut pairs = Vec::new();
    for (_, was, is) in cases() {
        pairs.push((was.clone(), is.clone()));
        pairs.push((is, was));
    }
    let checked = check(&pairs);
    assert_eq!(checked.compiled, pairs.len(), "{checked:#?}");
}
