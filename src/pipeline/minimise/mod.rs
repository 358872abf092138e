//! Finds tests that share statements, joins them in a copy of the project, and keeps of that
//! what is seen to be the same.

mod copy;
mod draft;
mod found;
mod mentions;
mod proof;
mod survey;

pub(crate) use found::{Check, Minimised};

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use self::copy::Copy;
use self::draft::Draft;
use self::survey::Survey;
use super::project::Project;
use super::workshop::Workshop;
use crate::count::counted;
use crate::error::Error;
use crate::minimise::{Limits, reorganise};
use crate::pattern::Pattern;
use crate::runners::{self, Observer, Ordered, Ran, Watch};

/// What the user wants.
#[derive(Clone, Debug)]
pub(crate) struct Wish {
    pub limits: Limits,
    /// Tests that are left alone.
    pub skip: Vec<Pattern>,
    /// Tests that are known to depend on others.
    pub dependent: BTreeSet<String>,
}

/// Looks for statements that can go.
pub(crate) struct Minimising<'p> {
    pub(crate) project: &'p Project,
    pub(crate) workshop: &'p Workshop,
    pub(crate) command: &'p [OsString],
    pub(crate) cwd: &'p Path,
    pub(crate) wish: Wish,
    /// Hears what is being done.
    pub(crate) tell: &'p dyn Fn(&str),
}

/// A copy of the project, and who runs its tests.
struct Place<'p> {
    minimising: &'p Minimising<'p>,
    copy: Copy,
    command: Vec<OsString>,
    cwd: PathBuf,
    dir: PathBuf,
}

impl Minimising<'_> {
    /// What can go; `None` if the user interrupted it. The project itself is only read.
    ///
    /// # Errors
    /// If the tests cannot be started, or some of them fail.
    pub(crate) fn find(&self) -> Result<Option<Minimised>, Error> {
        (self.tell)("copying the project");
        let root = self.project.repository.root();
        let copy = Copy::of(root)?;
        let place = Place {
            cwd: copy.place_of(root, self.cwd),
            dir: copy.place_of(root, &self.project.dir),
            command: self.command_from_anywhere(),
            minimising: self,
            copy,
        };
        let observer = place.observer()?;
        (self.tell)("collecting the tests");
        let mut survey = Survey::of(observer.tests()?, &*observer, &place.copy, &self.wish)?;
        (self.tell)("running the tests as they are");
        let Some(before) = observer.observe(&Watch::default())? else {
            return Ok(None);
        };
        refuse_red(&before.ran)?;
        (self.tell)("watching each statement");
        let watch = Watch {
            tests: survey.texts(),
            deep: false,
        };
        let Some(seen) = observer.observe(&watch)? else {
            return Ok(None);
        };
        survey.take_first(&seen);
        survey.forget_mentioned(&place.copy)?;
        (self.tell)("watching each statement again");
        let watch = Watch {
            tests: survey.texts_of_redundant(),
            deep: true,
        };
        let Some(seen) = observer.observe(&watch)? else {
            return Ok(None);
        };
        survey.take_second(&seen);
        let composed = reorganise(&survey.tests, self.wish.limits);
        let mut covered = None;
        if !composed.is_empty() {
            (self.tell)("measuring coverage");
            let Some(measured) = observer.cover()? else {
                return Ok(None);
            };
            covered = measured;
        }
        let mut draft = Draft::new(&survey, composed, &place.copy)?;
        let befores = [&before.ran, &seen.ran];
        let Some(proof) = proof::prove(&place, &*observer, &mut draft, (befores, &covered))? else {
            return Ok(None);
        };
        draft.finish(&before.ran, proof).map(Some)
    }
}

impl Minimising<'_> {
    /// A program that is named by where it is beside the project is not beside the copy.
    fn command_from_anywhere(&self) -> Vec<OsString> {
        let mut words = self.command.to_vec();
        if let Some(program) = words.first_mut() {
            let path = Path::new(&*program);
            let is_path = path.components().count() > 1;
            if is_path && path.is_relative() && self.cwd.join(path).exists() {
                *program = self.cwd.join(path).into_os_string();
            }
        }
        words
    }
}

impl<'p> Place<'p> {
    fn ordered(&'p self) -> Ordered<'p> {
        Ordered {
            command: &self.command,
            cwd: &self.cwd,
            project: &self.dir,
            root: self.copy.root(),
            agent: &self.minimising.workshop.agent,
        }
    }

    fn observer(&self) -> Result<Box<dyn Observer>, Error> {
        let runner = self.minimising.project.config.runner.value;
        let runner = runners::driver(runner, self.minimising.command);
        let original = self.minimising.project.repository.root();
        runner.observer(&self.ordered(), original)
    }
}

/// # Errors
/// If not all tests are good: what is unchanged of them is not known then.
fn refuse_red(ran: &Ran) -> Result<(), Error> {
    if let Some(lost) = &ran.ended.lost {
        let why = format!(
            "the tests do not come to their end: {} ended them",
            lost.test
        );
        return Err(Error::usage(why).with_hint("mend that first"));
    }
    let bad = ran.ended.outcomes.iter().filter(|(_, one)| !one.is_good());
    let bad: Vec<&String> = bad.map(|(test, _)| test).collect();
    let Some(first) = bad.first() else {
        return Ok(());
    };
    let said = ran.said.get(*first).map_or("", String::as_str);
    let why = format!(
        "{} in a copy of the project, {first} as the first: {said}",
        match bad.len() {
            1 => "a test fails".to_owned(),
            many => format!("{} fail", counted(many, "test")),
        }
    );
    Err(Error::usage(why)
        .with_hint("mend that first: what stays the same of a test that fails is not known")
        .with_hint("the copy lacks `.git` and has another path; tests must not depend on these"))
}
