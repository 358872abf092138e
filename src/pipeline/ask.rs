//! Asking more matrices than the nearest one: those that a rule names, or any
//! whose rows may hold.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use anyhow::Result;

use super::agree::take_back;
use super::baselines::{Baseline, Place};
use super::compare::{Comparison, delta_to};
use super::decide::{Answer, Heard, Question};
use super::inventory::unlisted;
use super::ledger::Ledger;
use crate::matrix::{MatrixView, Table, TestId};
use crate::select::{
    Differences, Nearest, Node, Plan, Proof, Reason, Rule, Sources, Unlisted, Verdict, choose, tts,
};
use crate::store::Name;

/// How many matrices are asked beside those that a rule names, those with the
/// most rows that may be proof first. What is not asked makes tests run.
const MOST_MATRICES: usize = 24;

/// One matrix and what it says of the head.
pub(super) struct Asked {
    /// Its number among the answer's other matrices; `None`: the nearest.
    pub at: Option<usize>,
    pub name: String,
    commit: String,
    pub verdicts: Rc<OfTests>,
    /// Whether it proves which tests there are, but for what the test step settles.
    finds_all: bool,
    /// Tests whose rows an audit has added units to.
    audited: BTreeSet<String>,
}

/// What is selected for, and from what.
pub(super) struct Around<'a> {
    pub comparison: &'a Comparison<'a>,
    pub nearest: &'a Baseline,
}

/// What all questions share.
struct Questions<'a> {
    around: &'a Around<'a>,
    /// tts between the nearest matrix and the head.
    verdicts: Rc<OfTests>,
    /// Tests whose rows of the nearest matrix an audit has added units to.
    audited: BTreeSet<String>,
    /// The tests of the matrix that knows which there are, if another than
    /// the nearest does.
    available: OfTests,
    /// Whether a row of a source counts however its units differ: the history
    /// formulas as published.
    is_unchecked: bool,
}

/// By test.
pub(super) type OfTests = BTreeMap<String, Verdict>;

/// Replaces the verdicts of the nearest matrix by those of `plan`'s rule.
///
/// # Errors
/// If git cannot be read.
pub(super) fn ask(
    around: &Around<'_>,
    ledger: &Ledger<'_>,
    plan: &Plan,
    answer: &mut Answer,
    heard: &mut Heard,
) -> Result<()> {
    let is_memo = matches!(plan.rule, Rule::Memo(_));
    if is_memo && is_settled(around.nearest, answer) {
        return Ok(());
    }
    let told = Rc::new(std::mem::take(&mut answer.selection.verdicts));
    let mut questions = Questions {
        around,
        verdicts: told.clone(),
        audited: audited(&around.nearest.matrix),
        available: BTreeMap::new(),
        is_unchecked: around.comparison.question.request.published && plan.rule.is_history(),
    };
    let mut named: BTreeMap<Node, Asked> = BTreeMap::new();
    for node in plan.rule.nodes() {
        if let Some(name) = ledger.matrix(node)
            && let Some(asked) = questions.matrix(name, answer, heard)?
        {
            named.insert(node, asked);
        }
    }
    let mut others = Vec::new();
    let mut tests: BTreeSet<String> = BTreeSet::new();
    let of_named = named
        .values()
        .filter(|asked| !Rc::ptr_eq(&asked.verdicts, &told))
        .flat_map(|asked| asked.verdicts.keys());
    if is_memo {
        // What the nearest matrix excuses, or makes run in any case, is settled.
        tests.extend(of_named.filter(|test| !told.contains_key(*test)).cloned());
        let open = told.iter().filter(|(_, verdict)| is_open(verdict));
        tests.extend(open.map(|(test, _)| test.clone()));
        tests.extend(named.values().flat_map(|asked| asked.audited.clone()));
        let (open, promising) = questions.promising(&named, answer, heard);
        for name in promising {
            others.extend(questions.matrix(name, answer, heard)?);
        }
        tests.extend(open);
    } else {
        tests.extend(of_named.chain(told.keys()).cloned());
        // The nearest matrix says first how long tests take.
        for (test, verdict) in told.iter() {
            if let Verdict::Skip(evidence) = verdict {
                let durations = &mut answer.selection.durations;
                durations.insert(test.clone(), evidence.duration_ms);
            }
        }
        answer.selection.baselines.clear();
        answer.selection.revisions.clear();
        for asked in named.values() {
            answer.selection.relies_on(&asked.name, &asked.commit);
        }
    }
    let mut settled: OfTests = BTreeMap::new();
    for test in tests {
        let sources = plan.rule.sources(&test, ledger);
        let verdict = settle(&questions, &named, &others, sources, &test, answer);
        settled.extend(verdict.map(|verdict| (test, verdict)));
    }
    let is_by_value = around.comparison.question.project.config.driver.confirms();
    if is_by_value && !questions.is_unchecked {
        let asked: Vec<&Asked> = named.values().chain(&others).collect();
        take_back(around.nearest, &told, &asked, answer, &mut settled);
    }
    let available = questions.available;
    drop((questions.verdicts, named));
    let mut verdicts = match is_memo {
        true => Rc::unwrap_or_clone(told),
        false => BTreeMap::new(),
    };
    // Few as a rule: merging two maps would build both anew.
    verdicts.extend(settled);
    for (test, verdict) in available {
        verdicts.entry(test).or_insert(verdict);
    }
    answer.selection.verdicts = verdicts;
    Ok(())
}

/// Whether these very files are recorded, and no other row could excuse a test
/// that they make run.
fn is_settled(nearest: &Baseline, answer: &Answer) -> bool {
    nearest.place == Place::SameFiles
        && answer.selection.inventory_doubt.is_none()
        && !answer.selection.verdicts.values().any(is_open)
}

impl Questions<'_> {
    /// What a stored matrix says of the head; `None` if it cannot be read, or
    /// may not be asked.
    fn matrix(
        &mut self,
        name: Name,
        answer: &mut Answer,
        heard: &mut Heard,
    ) -> Result<Option<Asked>> {
        if name == self.around.nearest.name {
            let (collection, verdicts) = match self.is_unchecked {
                true => {
                    let matrix = &self.around.nearest.matrix;
                    let found = Verdicts::of(matrix, &name, &Differences::default());
                    (found.collection, Rc::new(found.of_tests))
                }
                false => (None, self.verdicts.clone()),
            };
            return Ok(Some(Asked {
                at: None,
                name: name.to_string(),
                commit: self.around.nearest.matrix.header().commit.clone(),
                finds_all: matches!(collection, Some(Verdict::Skip(_))),
                verdicts,
                audited: self.audited.clone(),
            }));
        }
        let Ok(matrix) = self.around.comparison.question.shelf.load(&name) else {
            // Named among the troubles already; what cannot be read is no proof.
            return Ok(None);
        };
        let comparison = self.around.comparison;
        let Question {
            project,
            view,
            request,
            ..
        } = comparison.question;
        let delta = delta_to(project, matrix.header(), view);
        if project.runs_all(delta.as_ref()).is_some() {
            return Ok(None);
        }
        let found = match self.is_unchecked {
            true => Rc::default(),
            false => comparison.of((&name, &matrix), delta.as_ref(), heard),
        };
        let Verdicts {
            collection,
            of_tests,
        } = Verdicts::of(&matrix, &name, &found);
        let at = answer.others.len();
        // All tests that there are have a row in it.
        if collection.as_ref().is_some_and(Verdict::is_proven)
            && answer.selection.inventory_doubt.is_some()
            && unlisted(project, &matrix, delta.as_ref(), view, request.prober)?
                == Unlisted::default()
        {
            answer.selection.is_whole();
            answer.proofs.insert(TestId::Collection, at);
            self.available = of_tests.clone();
        }
        let commit = matrix.header().commit.clone();
        for (test, row) in matrix.tests() {
            let durations = &mut answer.selection.durations;
            let is_told = matches!(self.verdicts.get(test), Some(Verdict::Skip(_)))
                || durations.contains_key(test);
            if !is_told {
                durations.insert(test.to_owned(), row.duration_ms);
            }
        }
        let audited = audited(&matrix);
        answer.others.push(Baseline {
            name,
            matrix,
            place: Place::Elsewhere,
        });
        Ok(Some(Asked {
            at: Some(at),
            name: name.to_string(),
            commit,
            finds_all: matches!(collection, Some(Verdict::Skip(_))),
            verdicts: Rc::new(of_tests),
            audited,
        }))
    }

    /// The tests that nobody asked so far can excuse, and the matrices with
    /// the most rows that may.
    fn promising(
        &mut self,
        named: &BTreeMap<Node, Asked>,
        answer: &Answer,
        heard: &mut Heard,
    ) -> (BTreeSet<String>, Vec<Name>) {
        let memo = self
            .around
            .comparison
            .question
            .shelf
            .memo(&self.around.nearest.matrix.header().key);
        heard.trouble.extend(memo.troubles.iter().cloned());
        heard.index = memo.index.clone();
        let is_excused = |test: &str| {
            named
                .values()
                .any(|asked| matches!(asked.verdicts.get(test), Some(Verdict::Skip(_))))
        };
        // Both are sorted.
        let ids = self.around.nearest.matrix.ids();
        let mut nearest = ids.filter_map(|id| id.test()).peekable();
        let unknown = memo.tests().filter(|test| {
            while nearest.next_if(|known| known < test).is_some() {}
            nearest.peek() != Some(test)
        });
        let changed = self
            .verdicts
            .iter()
            .filter_map(|(test, verdict)| is_open(verdict).then_some(test.as_str()));
        let open: BTreeSet<String> = unknown
            .chain(changed)
            .filter(|test| !is_excused(test))
            .map(str::to_owned)
            .collect();
        let asked: BTreeSet<&str> = named.values().map(|asked| asked.name.as_str()).collect();
        let mut promising: BTreeMap<Name, usize> = BTreeMap::new();
        // Which tests there are is asked like a test.
        let is_doubted = answer.selection.inventory_doubt.is_some()
            && !named.values().any(|asked| asked.finds_all);
        let collection = is_doubted.then_some(TestId::Collection);
        let tests = open.iter().map(|test| TestId::Test(test.as_str()));
        for test in tests.chain(collection) {
            for row in memo.candidates(test) {
                if row.matrix != self.around.nearest.name {
                    *promising.entry(row.matrix).or_default() += 1;
                }
            }
        }
        let mut promising: Vec<(Name, usize)> = promising.into_iter().collect();
        promising.retain(|(name, _)| !asked.contains(name.to_string().as_str()));
        promising.sort_by(|(a_name, a), (b_name, b)| (b, a_name).cmp(&(a, b_name)));
        promising.truncate(MOST_MATRICES);
        let names = promising.into_iter().map(|(name, _)| name).collect();
        (open, names)
    }
}

/// What a matrix says of its tests, and of whether it has all.
#[derive(Default)]
struct Verdicts {
    collection: Option<Verdict>,
    of_tests: OfTests,
}

impl Verdicts {
    fn of(matrix: &MatrixView, name: &Name, found: &Differences) -> Verdicts {
        let mut verdicts = Verdicts::default();
        for (id, verdict) in matrix.ids().zip(tts(matrix, &name.to_string(), found)) {
            match id {
                TestId::Collection => verdicts.collection = Some(verdict),
                TestId::Test(test) => {
                    verdicts.of_tests.insert(test.to_owned(), verdict);
                }
            }
        }
        verdicts
    }
}

fn audited(matrix: &MatrixView) -> BTreeSet<String> {
    matrix.audited().into_keys().map(str::to_owned).collect()
}

/// Whether a test runs because of what it depends on, so that another row may
/// excuse it.
fn is_open(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Run(reason) if reason.is_about_units())
}

/// The verdict on one test; `None` if it is not there any more.
fn settle(
    questions: &Questions<'_>,
    named: &BTreeMap<Node, Asked>,
    others: &[Asked],
    sources: Sources,
    test: &str,
    answer: &mut Answer,
) -> Option<Verdict> {
    let baseline = questions.around.nearest;
    let nearest = Nearest {
        verdict: questions.verdicts.get(test),
        has_same_files: baseline.place == Place::SameFiles,
    };
    let (nodes, is_memo) = match sources {
        Sources::Nearest => (Vec::new(), true),
        Sources::Nodes(nodes) => (nodes, false),
        Sources::Every(nodes) => (nodes, true),
    };
    let is_affected = nodes.is_empty() && !is_memo;
    // The nearest matrix itself stands as `None`.
    let own = is_memo.then_some((None, nearest.verdict));
    let asked = nodes.iter().filter_map(|node| named.get(node));
    let asked = asked.chain(others.iter().filter(|_| is_memo));
    let mut told: Vec<(Option<&Asked>, Option<&Verdict>)> = own
        .into_iter()
        .chain(asked.map(|asked| (Some(asked), asked.verdicts.get(test))))
        .collect();
    // Rows from before an audit lack what it found.
    let is_audited = |asked: Option<&Asked>| match asked {
        Some(asked) => asked.audited.contains(test),
        None => questions.audited.contains(test),
    };
    if told.iter().any(|(asked, _)| is_audited(*asked)) {
        for (asked, verdict) in &mut told {
            *verdict = verdict.filter(|_| is_audited(*asked));
        }
    }
    let proof = match choose(nearest, told.iter().map(|(_, verdict)| *verdict)) {
        Some(Proof::Nearest) => Some((None, nearest.verdict)),
        Some(Proof::Source(at)) => Some(told[at]),
        None => None,
    };
    if let Some((whose, Some(verdict))) = proof {
        let selection = &mut answer.selection;
        match whose {
            Some(asked) => selection.relies_on(&asked.name, &asked.commit),
            None => {
                let commit = &baseline.matrix.header().commit;
                selection.relies_on(&baseline.name.to_string(), commit);
            }
        }
        match whose.and_then(|asked| asked.at) {
            Some(at) => answer.proofs.insert(TestId::from(test), at),
            None => answer.proofs.remove(&TestId::from(test)),
        };
        return Some(verdict.clone());
    }
    answer.proofs.remove(&TestId::from(test));
    // Tests that only other matrices know than the nearest and those of the
    // rule are not there any more, as far as anybody can tell.
    if nearest.verdict.is_none() && !named_knows(named, test) {
        return None;
    }
    let verdicts: Vec<Option<&Verdict>> = told.iter().map(|(_, verdict)| *verdict).collect();
    let reason = reason(nearest, &verdicts, is_affected, is_memo);
    if let Reason::Unconfirmed { baseline, .. } = &reason
        && let Some(asked) = others
            .iter()
            .chain(named.values())
            .find(|asked| asked.name == *baseline)
    {
        answer.selection.relies_on(&asked.name, &asked.commit);
    }
    Some(Verdict::Run(reason))
}

fn named_knows(named: &BTreeMap<Node, Asked>, test: &str) -> bool {
    named
        .values()
        .any(|asked| asked.verdicts.contains_key(test))
}

/// Why a test runs: its last result, else what the rule's revisions say, else
/// the nearest, else that nobody knows it. Where every row may be proof, one that
/// values can confirm comes before the others.
fn reason(
    nearest: Nearest<'_>,
    sources: &[Option<&Verdict>],
    is_affected: bool,
    is_memo: bool,
) -> Reason {
    let run = |verdict: Option<&Verdict>| match verdict {
        Some(Verdict::Run(reason)) => Some(reason.clone()),
        Some(Verdict::Skip(_)) | None => None,
    };
    let last = run(nearest.verdict);
    if let Some(reason) = &last
        && !reason.is_about_units()
    {
        return reason.clone();
    }
    let told = || sources.iter().filter_map(|verdict| run(*verdict));
    let mut open = told().filter(|reason| matches!(reason, Reason::Unconfirmed { .. }));
    if let Some(reason) = open.next().filter(|_| is_memo) {
        return reason;
    }
    if is_affected {
        return Reason::Affected {
            why: "it was selected on more than one side, or one side does not have it",
        };
    }
    let reason = told().next().or(last).unwrap_or(Reason::New);
    // The nearest row may lack what an audit has found.
    reason.settled()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::{Fingerprint, Outcome, Unit, What};
    use crate::select::By;

    fn unconfirmed(baseline: &str) -> Verdict {
        Verdict::Run(Reason::Unconfirmed {
            unit: Unit::at("a.py", What::Effects),
            from: Fingerprint([1; 16]),
            to: Fingerprint([2; 16]),
            baseline: baseline.into(),
            late: [].into(),
            by: By::Imports,
        })
    }

    fn changed() -> Verdict {
        match unconfirmed("n") {
            Verdict::Run(reason) => Verdict::Run(reason.settled()),
            skip @ Verdict::Skip(_) => skip,
        }
    }

    /// The kind of the reason, and the baseline that it names.
    fn told(
        nearest: &Verdict,
        sources: &[Option<&Verdict>],
        is_memo: bool,
    ) -> (&'static str, String) {
        let nearest = Nearest {
            verdict: Some(nearest),
            has_same_files: false,
        };
        let reason = reason(nearest, sources, false, is_memo);
        (reason.kind(), reason.baseline().unwrap_or("").to_owned())
    }

    #[test]
    fn the_nearest_of_those_that_values_can_confirm_is_named() {
        let (changed, one, other) = (changed(), unconfirmed("a"), unconfirmed("b"));
        let all = [Some(&changed), None, Some(&one), Some(&other)];
        assert_eq!(told(&changed, &all, true), ("unconfirmed", "a".to_owned()));
        let all = [Some(&other), Some(&one)];
        assert_eq!(told(&other, &all, true), ("unconfirmed", "b".to_owned()));
    }

    #[test]
    fn values_confirm_nothing_by_other_rules_nor_what_an_audit_has_put_aside() {
        let (changed, one) = (changed(), unconfirmed("a"));
        let all = [Some(&one), Some(&one)];
        assert_eq!(told(&changed, &all, false), ("changed", "a".to_owned()));
        assert_eq!(told(&one, &[None], true), ("changed", "a".to_owned()));
        let failed = Verdict::Run(Reason::Failed {
            outcome: Outcome::Failed,
            baseline: "n".into(),
        });
        assert_eq!(told(&failed, &all, true), ("failed", "n".to_owned()));
    }
}
