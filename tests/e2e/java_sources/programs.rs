//! One program with several variants of each source.

use super::oracle::*;

/// The variants of each source. An empty one means that the source is missing.
fn variants() -> Vec<(String, Vec<String>)> {
    let mut all: Vec<(String, Vec<String>)> = Vec::new();
    for line in include_str!("variants.txt").lines() {
        let last = all.last_mut();
        match (line.strip_prefix("-- "), last) {
            (Some(path), _) => all.push((path.to_owned(), vec![String::new()])),
            (None, Some((_, texts))) if line.starts_with("== ") => texts.push(String::new()),
            (None, Some((_, texts))) => {
                let text = texts.last_mut().unwrap();
                text.push_str(line);
                text.push('\n');
            }
            (None, None) => panic!("{line}"),
        }
    }
    all
}

fn program(all: &[(String, Vec<String>)], chosen: &[usize]) -> Program {
    let each = all.iter().zip(chosen);
    let each = each.map(|((path, texts), at)| (path.clone(), texts[*at].clone()));
    each.filter(|(_, text)| !text.is_empty()).collect()
}

#[test]
fn every_single_edit_affects_what_the_compiler_makes_otherwise() {
    if !has_compiler() {
        return;
    }
    let all = variants();
    let plain = vec![0; all.len()];
    let mut pairs = Vec::new();
    for (at, (_, texts)) in all.iter().enumerate() {
        for other in 1..texts.len() {
            let mut chosen = plain.clone();
            chosen[at] = other;
            let (was, is) = (program(&all, &plain), program(&all, &chosen));
            pairs.push((is.clone(), was.clone()));
            pairs.push((was, is));
        }
    }
    let checked = check(&pairs);
    assert!(checked.compiled * 10 >= pairs.len() * 8, "{checked:#?}");
    assert!(checked.differ > pairs.len(), "{checked:#?}");
    // Otherwise the rule would be no better than compiling everything.
    assert!(checked.affected * 3 < checked.sources, "{checked:#?}");
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn several_edits_at_once_do() {
    if !has_compiler() {
        return;
    }
    let all = variants();
    let mut chance = Chance::new(1);
    let pairs: Vec<(Program, Program)> = (0..40)
        .map(|_| {
            let mut was: Vec<usize> = vec![0; all.len()];
            let mut change = |chosen: &mut Vec<usize>, many: usize| {
                for _ in 0..many {
                    let at = chance.below(all.len());
                    chosen[at] = chance.below(all[at].1.len());
                }
            };
            change(&mut was, 8);
            let mut is = was.clone();
            change(&mut is, 6);
            (program(&all, &was), program(&all, &is))
        })
        .collect();
    let checked = check(&pairs);
    assert!(checked.compiled * 4 > pairs.len(), "{checked:#?}");
}
