//! A proposal: composed tests, written into the copy of the project.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;

use super::copy::Copy;
use super::found::{
    ClassSaving, Dropped, FileChange, Mapped, MappedLine, Minimised, Origin, StatementCounts,
    TestCounts,
};
use super::proof::Proof;
use super::survey::{Survey, TestFile, test_of};
use crate::error::Error;
use crate::minimise::{
    Composed, Edit, SourceText, Test, TestText, composed_name, differs, rewrite,
};
use crate::runners::{Observation, Observer, Ran};

/// A composed test with its name.
pub(super) struct Proposed {
    pub(super) composed: Composed,
    pub(super) file: usize,
    pub(super) id: String,
    name: String,
    qualified: String,
}

/// The proposal as it stands.
pub(super) struct Draft<'s> {
    pub(super) survey: &'s Survey,
    copy: &'s Copy,
    pub(super) proposed: Vec<Proposed>,
    pub(super) dropped: Vec<Dropped>,
    /// File → its new text.
    written: BTreeMap<usize, Vec<u8>>,
}

impl<'s> Draft<'s> {
    pub(super) fn new(
        survey: &'s Survey,
        composed: Vec<Composed>,
        copy: &'s Copy,
    ) -> Result<Draft<'s>> {
        let mut taken: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
        let mut proposed = Vec::new();
        for composed in composed {
            let first = composed.tests[0];
            let (file, place) = survey.places[first];
            let source = &survey.files[file].source;
            let taken = taken.entry(file).or_insert_with(|| {
                let all = source.tests.iter();
                all.map(|test| last_part(&test.qualified, '.').to_owned())
                    .collect()
            });
            let names = composed
                .tests
                .iter()
                .map(|at| survey.tests[*at].name.as_str());
            let name = composed_name(&names.collect::<Vec<_>>(), taken);
            taken.insert(name.clone());
            let with_name = |whole: &str, separator: char| {
                let last = last_part(whole, separator);
                format!("{}{name}", &whole[..whole.len() - last.len()])
            };
            proposed.push(Proposed {
                file,
                id: with_name(&survey.tests[first].id, ':'),
                qualified: with_name(&source.tests[place].qualified, '.'),
                name,
                composed,
            });
        }
        let mut draft = Draft {
            survey,
            copy,
            proposed,
            dropped: Vec::new(),
            written: BTreeMap::new(),
        };
        draft.write()?;
        Ok(draft)
    }

    /// Writes the proposal into the copy, and what is not proposed any more as it was.
    fn write(&mut self) -> Result<()> {
        let mut edits: BTreeMap<usize, Vec<Edit<'_>>> = BTreeMap::new();
        for one in &self.proposed {
            edits.entry(one.file).or_default().push(Edit {
                composed: &one.composed,
                name: &one.name,
            });
        }
        let mut written = BTreeMap::new();
        for (file, edits) in edits {
            let TestFile { bytes, source, .. } = &self.survey.files[file];
            let place = |test: usize| self.survey.places[test].1;
            written.insert(file, rewrite(bytes, source, &edits, &place));
        }
        for file in self
            .written
            .keys()
            .filter(|file| !written.contains_key(*file))
        {
            let TestFile { path, bytes, .. } = &self.survey.files[*file];
            self.copy.write(path, bytes)?;
        }
        for (file, text) in &written {
            self.copy.write(&self.survey.files[*file].path, text)?;
        }
        self.written = written;
        Ok(())
    }

    /// Takes back what `why` says something against; whether there was any.
    pub(super) fn drop_where(&mut self, why: impl Fn(&Proposed) -> Option<String>) -> Result<bool> {
        let mut kept = Vec::new();
        let before = self.proposed.len();
        for one in std::mem::take(&mut self.proposed) {
            match why(&one) {
                None => kept.push(one),
                Some(reason) => self.dropped.push(Dropped {
                    tests: self.ids(&one.composed),
                    reason,
                }),
            }
        }
        self.proposed = kept;
        let is_less = self.proposed.len() < before;
        if is_less {
            self.write()?;
        }
        Ok(is_less)
    }

    fn ids(&self, composed: &Composed) -> Vec<String> {
        let all = composed.tests.iter();
        all.map(|at| self.survey.tests[*at].id.clone()).collect()
    }

    /// The new files as a language understands them; one that it does not takes its proposals
    /// back.
    pub(super) fn sources(
        &mut self,
        observer: &dyn Observer,
    ) -> Result<BTreeMap<usize, SourceText>> {
        let mut found = BTreeMap::new();
        let mut broken: BTreeMap<usize, String> = BTreeMap::new();
        for (file, text) in &self.written {
            match observer.source(text) {
                Ok(source) => {
                    found.insert(*file, source);
                }
                Err(why) => {
                    broken.insert(*file, format!("the new file is not understood: {why}"));
                }
            }
        }
        self.drop_where(|one| broken.get(&one.file).cloned())?;
        Ok(found)
    }

    /// The text of a composed test.
    pub(super) fn text_in<'t>(
        &self,
        one: &Proposed,
        sources: &'t BTreeMap<usize, SourceText>,
    ) -> Option<&'t TestText> {
        let mut all = sources.get(&one.file)?.tests.iter();
        all.find(|text| text.qualified == one.qualified)
    }

    /// The ids of all tests that are joined.
    pub(super) fn originals(&self) -> impl Iterator<Item = &str> {
        let all = self.proposed.iter().flat_map(|one| &one.composed.tests);
        all.map(|at| self.survey.tests[*at].id.as_str())
    }

    /// Why a composed test is not what its tests were, by how it ran.
    pub(super) fn against(
        &self,
        one: &Proposed,
        sources: &BTreeMap<usize, SourceText>,
        seen: &Observation,
    ) -> Option<String> {
        let Some(text) = self.text_in(one, sources) else {
            return Some("the new test is not in its file".to_owned());
        };
        let Some(observed) = seen.tests.get(&one.id) else {
            return Some("the new test is not collected".to_owned());
        };
        let ran = match test_of((&one.id, String::new(), Vec::new()), text, observed) {
            Ok(ran) => ran,
            Err(why) => return Some(why),
        };
        let tests: &[Test] = &self.survey.tests;
        differs(tests, &one.composed, &ran).map(|difference| difference.told(tests))
    }

    /// What is left in the end.
    pub(super) fn finish(self, before: &Ran, proof: Proof) -> Result<Minimised, Error> {
        let survey = self.survey;
        let removed: usize = self
            .proposed
            .iter()
            .map(|one| one.composed.removed.len())
            .sum();
        let joined = self.proposed.iter().map(|one| one.composed.tests.len() - 1);
        let joined: usize = joined.sum();
        let map = self.proposed.iter().map(|one| self.mapped(one, &proof));
        let files = self.written.iter().map(|(file, text)| FileChange {
            path: survey.files[*file].path.clone(),
            before: survey.files[*file].bytes.clone(),
            after: text.clone(),
        });
        Ok(Minimised {
            tests: TestCounts {
                before: survey.all_tests,
                partly_redundant: survey.partly_redundant,
                after: survey.all_tests - joined,
            },
            statements: StatementCounts {
                before: survey.all_statements,
                redundant: survey.redundant,
                removed,
                after: survey.all_statements - removed,
            },
            left_alone: survey.alone.clone(),
            classes: self.classes(before, &proof),
            map: map.collect(),
            files: files.collect(),
            dropped: self.dropped,
            verified: proof.verified,
        })
    }

    fn classes(&self, before: &Ran, proof: &Proof) -> Vec<ClassSaving> {
        let seconds = |ran: &Ran, id: &str| ran.ended.seconds.get(id).copied().unwrap_or_default();
        let mut found: BTreeMap<String, ClassSaving> = BTreeMap::new();
        for one in &self.proposed {
            let (class, _) = one.id.rsplit_once("::").unwrap_or_default();
            let saving = found
                .entry(class.to_owned())
                .or_insert_with(|| ClassSaving {
                    class: class.to_owned(),
                    tests_before: 0,
                    tests_after: 0,
                    statements_removed: 0,
                    seconds_before: 0.0,
                    seconds_after: 0.0,
                });
            let ids = self.ids(&one.composed);
            saving.tests_before += ids.len();
            saving.tests_after += 1;
            saving.statements_removed += one.composed.removed.len();
            saving.seconds_before += ids.iter().map(|id| seconds(before, id)).sum::<f64>();
            saving.seconds_after += proof
                .after
                .as_ref()
                .map_or(0.0, |ran| seconds(ran, &one.id));
        }
        found.into_values().collect()
    }

    /// Where each statement of a composed test comes from.
    fn mapped(&self, one: &Proposed, proof: &Proof) -> Mapped {
        let survey = self.survey;
        let origin = |test: usize, statement: usize| {
            let (file, place) = survey.places[test];
            let text = &survey.files[file].source.tests[place];
            Origin {
                test: survey.tests[test].id.clone(),
                line: text.statements[statement].first_line,
            }
        };
        let text = self.text_in(one, &proof.sources);
        let lines = text.iter().flat_map(|text| &text.statements).enumerate();
        let lines = lines.zip(&one.composed.steps).map(|((at, now), step)| {
            let removed = one.composed.removed.iter().filter(|gone| gone.twin == at);
            let twins = removed.map(|gone| origin(gone.test, gone.statement));
            MappedLine {
                line: now.first_line,
                from: std::iter::once(origin(step.test, step.statement))
                    .chain(twins)
                    .collect(),
            }
        });
        Mapped {
            id: one.id.clone(),
            file: survey.files[one.file].path.display().to_string(),
            originals: self.ids(&one.composed),
            lines: lines.collect(),
        }
    }
}

fn last_part(whole: &str, separator: char) -> &str {
    whole.rsplit(separator).next().unwrap_or_default()
}
