//! `tamis why`.

use clap::Args;
use serde_json::{Value, json};

use super::strategy::{EventArgs, StrategyArgs};
use super::{Globals, deciding, suites, telling};
use crate::config::{Config, Origin, nearest};
use crate::count::counted;
use crate::error::{Error, Exit};
use crate::history::{View, short};
use crate::languages::Causes;
use crate::matrix::Matrix;
use crate::pipeline::{Decision, Project, causes, open};
use crate::report::{
    CauseJson, EvidenceJson, MOST_CAUSES, ReasonJson, Report, cause_lines, escape, parent_number,
};
use crate::runners;
use crate::select::{Evidence, Reason, Verdict};

/// Explain why a test would run, or why it would be left out.
///
/// Names what changed, or the proof that nothing did, down to the function,
/// file or package, and between which revisions.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    tamis why tests/test_a.py::test_add\n  \
    tamis why 'tests/test_a.py::test_add[1-2]' --json")]
pub(crate) struct WhyArgs {
    /// The test, as its runner names it
    #[arg(value_name = "TEST")]
    test: String,
    #[command(flatten)]
    selecting: StrategyArgs,
    /// Explain for this revision instead of the work tree
    #[arg(long, value_name = "REV")]
    head: Option<String>,
    /// Rely on the results of this revision only
    #[arg(long, value_name = "REV")]
    baseline: Option<String>,
}

/// What `why` is to do: flags and configuration merged.
#[derive(Clone, Debug)]
pub(crate) struct WhyRequest {
    pub config: Config,
    pub test: String,
    /// `None`: the work tree, uncommitted edits included.
    pub head: Option<String>,
    pub baseline: Option<String>,
    /// What an event tells of the head.
    pub event: EventArgs,
}

impl WhyArgs {
    fn resolve(&self, globals: &Globals) -> Result<WhyRequest, Error> {
        let config = globals.config(&self.selecting.overrides())?;
        Ok(WhyRequest {
            config,
            test: self.test.clone(),
            head: self.head.clone(),
            baseline: self.baseline.clone(),
            event: self.selecting.event(globals.ci.as_ref()),
        })
    }
}

pub(crate) fn run(args: &WhyArgs, globals: &Globals, report: &Report) -> Result<Exit, Error> {
    let suites = globals.each_suite()?;
    let mut unknown = Vec::new();
    let mut known = Vec::new();
    for globals in &suites {
        let request = args.resolve(globals)?;
        let asked = ask(&request, globals, report)?;
        match asked
            .decision
            .selection
            .verdicts
            .contains_key(&request.test)
        {
            true => known.push(asked),
            false => unknown.push(asked),
        }
    }
    if let (true, Some(asked)) = (known.is_empty(), unknown.first()) {
        return unknown_test(&args.test, &asked.decision, report);
    }
    let documents = known.iter().map(|asked| asked.answer(&args.test, report));
    let documents = documents.collect::<Result<Vec<_>, _>>()?;
    if report.is_json() {
        report.json(&suites::join_documents(documents))?;
        return Ok(Exit::DONE);
    }
    for (suite, text) in documents {
        if let Some(suite) = suite {
            report.data(&format!("suite {suite}: "))?;
        }
        report.data(text.as_str().unwrap_or_default())?;
    }
    Ok(Exit::DONE)
}

/// A suite that was asked about the test.
struct Asked {
    /// Its name, if it is one of several.
    suite: Option<String>,
    project: Project,
    decision: Decision,
    view: View,
    /// Whether class files counted as they lie on disk.
    is_as_built: bool,
}

fn ask(request: &WhyRequest, globals: &Globals, report: &Report) -> Result<Asked, Error> {
    let asked = ask_of(&request.config, request, globals)?;
    // A command that was typed may be of another runner than the one that is found here.
    let is_found = request.config.runner.origin == Origin::Default;
    let others = runners::ALL.iter().copied();
    for runner in others.filter(|_| is_found && asked.decision.baseline.is_none()) {
        let config = request.config.clone().for_runner(runner);
        if config.runner.value != request.config.runner.value {
            let other = ask_of(&config, request, globals)?;
            if other.decision.baseline.is_some() {
                telling::tell_clone(&other.project, report);
                return Ok(other);
            }
        }
    }
    telling::tell_clone(&asked.project, report);
    Ok(asked)
}

fn ask_of(config: &Config, request: &WhyRequest, globals: &Globals) -> Result<Asked, Error> {
    let project = open(config, globals.ci.as_ref())?;
    let mut wanted = deciding::Wanted {
        event: &request.event,
        head: request.head.as_deref(),
        baseline: request.baseline.as_deref(),
        command: None,
        here: None,
        strict: false,
    };
    let (mut decision, mut view) = deciding::decide_at(&project, &wanted)?;
    let unbuilt = request.head.is_none().then(|| unbuilt_command(&decision));
    let command = unbuilt.flatten();
    let cwd = match config.command.value {
        Some(_) => &config.root.value,
        None => &globals.folder,
    };
    if let Some(command) = &command {
        wanted.command = Some(command);
        wanted.here = Some(cwd);
        (decision, view) = deciding::decide_as_built(&project, &wanted)?;
    }
    Ok(Asked {
        suite: globals.mark(),
        project,
        decision,
        view,
        is_as_built: command.is_some(),
    })
}

/// The command that ran the tests, where sources tell nothing of the classes that it would
/// run today, and those on disk do.
fn unbuilt_command(decision: &Decision) -> Option<Vec<String>> {
    let recorded = &decision.baseline.as_ref()?.matrix.header().command;
    // What variables added to it is read anew.
    let command = runners::typed_words(recorded);
    let needs_built = runners::of_words(&command).needs_built();
    needs_built.then_some(command)
}

impl Asked {
    /// What it says, as JSON or as text.
    fn answer(&self, test: &str, report: &Report) -> Result<(Option<String>, Value), Error> {
        let Some(verdict) = self.decision.selection.verdicts.get(test) else {
            return Ok((self.suite.clone(), Value::Null));
        };
        let most = match report.is_json() {
            true => usize::MAX,
            false => MOST_CAUSES,
        };
        let causes = causes_of(
            &self.project,
            &self.view,
            &self.decision,
            test,
            verdict,
            most,
        )?;
        let answer = match report.is_json() {
            true => verdict_json(test, verdict, &causes, &self.decision),
            false => {
                let mut text = explain(test, verdict, &causes, &self.decision);
                if self.is_as_built {
                    // Before all else: an edit that is not compiled changes the answer.
                    let at = text.find('\n').map_or(text.len(), |end| end + 1);
                    let told = "  class files count as they lie on disk: compile first if \
                                sources changed\n";
                    text.insert_str(at, told);
                }
                text.into()
            }
        };
        Ok((self.suite.clone(), answer))
    }
}

/// The units that changed, if that is why the test runs.
fn causes_of(
    project: &Project,
    view: &View,
    decision: &Decision,
    test: &str,
    verdict: &Verdict,
    most: usize,
) -> Result<Causes, Error> {
    let Verdict::Run(
        Reason::Changed { unit, baseline, .. } | Reason::Unconfirmed { unit, baseline, .. },
    ) = verdict
    else {
        return Ok(Causes::default());
    };
    match matrix_named(decision, baseline) {
        Some(matrix) => Ok(causes(project, view, matrix, test, unit, most)?),
        None => Ok(Causes::default()),
    }
}

/// The matrix of this name among those that the decision was made from.
fn matrix_named<'d>(decision: &'d Decision, name: &str) -> Option<&'d Matrix> {
    let mut all = decision.baseline.iter().chain(&decision.others);
    let found = all.find(|known| known.name.to_string() == name);
    found.and_then(|baseline| baseline.matrix.whole().ok())
}

/// A test that nobody knows runs as new; say what the nearest known one is.
fn unknown_test(test: &str, decision: &Decision, report: &Report) -> Result<Exit, Error> {
    let selection = &decision.selection;
    let why = match &selection.all_because {
        Some(why) => format!("{test} would run, as all tests do: {why}"),
        None => format!("{test} would run if it exists: no result of it is stored"),
    };
    if report.is_json() {
        report
            .json(&json!({ "id": test, "runs": true, "reason": { "kind": "new" }, "text": why }))?;
        return Ok(Exit::DONE);
    }
    report.data(&format!("{}\n", escape::line(&why)))?;
    let known = selection.verdicts.keys().map(String::as_str);
    if let Some(near) = nearest(test, known) {
        report.note(format!("did you mean {near}?"));
    }
    Ok(Exit::DONE)
}

fn verdict_json(test: &str, verdict: &Verdict, causes: &Causes, decision: &Decision) -> Value {
    let course = &decision.selection.course;
    let head = decision.head.as_ref();
    let mut document = json!({
        "id": test,
        "head": head.map(|head| json!({
            "commit": head.commit.to_string(),
            "kind": head.kind.word(),
            "auto": head.auto,
        })),
        "strategy": course.asked.word(),
        "used": course.used.word(),
        "fallbacks": course.fallbacks,
        "revisions": decision.selection.revisions,
    });
    let told = match verdict {
        Verdict::Run(reason) => json!({
            "runs": true,
            "reason": ReasonJson::from(reason),
            "causes": causes.told.iter().map(CauseJson::from).collect::<Vec<_>>(),
            "text": reason.to_string(),
        }),
        Verdict::Skip(evidence) => json!({
            "runs": false,
            "evidence": EvidenceJson::new(evidence, head),
        }),
    };
    if let (Value::Object(all), Value::Object(more)) = (&mut document, told) {
        all.extend(more);
    }
    document
}

/// The verdict in words, with the revisions between which it was made.
fn explain(test: &str, verdict: &Verdict, causes: &Causes, decision: &Decision) -> String {
    let mut lines = Vec::new();
    let selection = &decision.selection;
    match verdict {
        Verdict::Run(reason) => {
            let is_open = matches!(reason, Reason::Unconfirmed { .. });
            lines.push(match is_open {
                true => format!("{test} would run if values that it reads differ: {reason}"),
                false => format!("{test} would run: {reason}"),
            });
            lines.extend(cause_lines(causes).iter().map(|line| format!("  {line}")));
            if let Reason::Changed { unit, from, to, .. }
            | Reason::Unconfirmed { unit, from, to, .. } = reason
                && from != to
            {
                lines.push(format!("  {unit}: {from} then, {to} now"));
            }
            if is_open {
                lines.extend(LEFT_TO_VALUES.map(str::to_owned));
            }
            let baseline = reason.baseline();
            if let Some(commit) = baseline.and_then(|name| selection.revisions.get(name)) {
                lines.push(format!("  compared with the run at {}", short(commit)));
            }
        }
        Verdict::Skip(evidence) => {
            lines.push(format!(
                "{test} would be left out: nothing that it used has changed"
            ));
            lines.push(format!(
                "  it {} at {} with {}, all of them the same now",
                evidence.outcome.past(),
                short(&evidence.ran_at),
                counted(evidence.units, "unit")
            ));
            lines.push(taken_from(evidence, decision));
            lines.extend(checked_again(evidence));
        }
    }
    lines.push(by_strategy(decision));
    for fallback in &selection.course.fallbacks {
        lines.push(format!("  {fallback}"));
    }
    lines
        .iter()
        .map(|line| format!("{}\n", escape::line(line)))
        .collect()
}

/// What is to be known of a test that values may excuse.
const LEFT_TO_VALUES: [&str; 2] = [
    "  nothing that it ran or read itself has changed: this counts only if it leaves other values",
    "  `tamis run` compares them when all tests are found, and leaves the test out if they are \
     the same",
];

/// What only the start of the tests settles: each by name, where these are few.
fn checked_again(evidence: &Evidence) -> Vec<String> {
    const FEW: usize = 3;
    let units: Vec<String> = evidence
        .late
        .iter()
        .map(|(unit, _)| unit.to_string())
        .collect();
    match units.len() {
        0..=FEW => {
            let each = units.iter();
            each.map(|unit| format!("  {unit} is checked again when the tests start"))
                .collect()
        }
        all => vec![format!(
            "  {}, and {} more that no commit holds, are checked again when the tests start \
             (--json lists them)",
            units[..FEW - 1].join(", "),
            all + 1 - FEW
        )],
    }
}

/// From which revision the result of a skip comes.
fn taken_from(evidence: &Evidence, decision: &Decision) -> String {
    let head = decision.head.as_ref();
    let parent = head.and_then(|head| parent_number(head, &evidence.revision));
    let which = parent.map_or_else(String::new, |number| format!("parent {number}, "));
    format!(
        "  the result is taken from {which}{}",
        short(&evidence.revision)
    )
}

/// The kind of the head and the strategy in force.
fn by_strategy(decision: &Decision) -> String {
    let used = decision.selection.course.used;
    match &decision.head {
        Some(head) => {
            let commit = head.commit.to_string();
            let kind = head.kind.word();
            format!("  selected by {used} at {}, kind {kind}", short(&commit))
        }
        None => format!("  selected by {used}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Project;
    use super::*;

    #[test]
    fn every_option_changes_the_request() {
        let groups: [&[&str]; 5] = [
            &["--strategy", "all"],
            &["--head", "a"],
            &["--baseline", "b"],
            &["--before", "c"],
            &["--pr-head", "d"],
        ];
        Project::new("version: 1\n").each_matters(&["t.py::t"], &groups, WhyArgs::resolve);
    }
}
