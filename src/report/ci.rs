//! The output about a selection for a CI service: GitHub's outputs, step summary and
//! annotations, GitLab's dotenv report. Pure text, without the names of tests.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::hash::{BuildHasher, Hasher};

use serde_json::{Value, json};

use super::commands::{Level, annotation};
use super::escape;
use crate::count::{counted, number};
use crate::select::{Mode, Selection};

/// GitHub shows no more annotations of a step.
const MOST_ANNOTATIONS: usize = 9;

/// How many causes the summary lists.
const MOST_CAUSES: usize = 12;

/// The longest cause in the summary, in characters.
const LONGEST_CAUSE: usize = 300;

/// A selection for a CI service. Texts may contain anything.
#[derive(Clone, Debug, Default)]
pub(crate) struct CiSelection {
    /// The suite, if there are several.
    pub suite: Option<String>,
    /// The suites in this selection, if there are several.
    pub parts: Vec<CiSelection>,
    /// `all`, `selected` or `none`.
    pub mode: &'static str,
    pub reason: String,
    /// How many tests run, and how many there are; `None` if nobody has listed them.
    pub counts: Option<(usize, usize)>,
    /// The seconds of the selected tests and of all tests.
    pub seconds: Option<(f64, f64)>,
    /// Whether the tests must be compiled in addition.
    pub compiles: bool,
    /// For `strategy.matrix`; `None` if the selection was not divided.
    pub matrix: Option<String>,
    /// Where the files of the selection are; `None` if they were not written.
    pub out: Option<String>,
    /// Why more tests run than necessary.
    pub fallbacks: Vec<String>,
    /// Causes for running tests, with the number of tests, the most frequent first.
    pub causes: Vec<(String, usize)>,
}

impl CiSelection {
    pub(crate) fn new(selection: &Selection, fallbacks: &[String]) -> CiSelection {
        let known = selection.all_because.is_none();
        let selected = selection.selected().count();
        let (all, chosen) = selection.seconds();
        let mut causes: BTreeMap<String, usize> = BTreeMap::new();
        for (_, reason) in selection.selected() {
            *causes.entry(reason.to_string()).or_default() += 1;
        }
        let mut causes: Vec<(String, usize)> = causes.into_iter().collect();
        causes.sort_by(|(a_text, a), (b_text, b)| (b, a_text).cmp(&(a, b_text)));
        CiSelection {
            suite: None,
            parts: Vec::new(),
            mode: match selection.mode() {
                Mode::All => "all",
                Mode::Subset => "selected",
                Mode::None => "none",
            },
            reason: selection.reason(),
            counts: known.then_some((selected, selection.verdicts.len())),
            seconds: known.then_some((chosen, all)),
            compiles: selection.compiles,
            matrix: None,
            out: None,
            fallbacks: fallbacks.to_vec(),
            causes,
        }
    }

    /// Joins the selections of several suites.
    pub(crate) fn join(parts: Vec<CiSelection>) -> CiSelection {
        let is_every = |mode| parts.iter().all(|part| part.mode == mode);
        let reasons = parts.iter().map(|part| {
            let suite = part.suite.as_deref().unwrap_or_default();
            format!("{suite}: {}", part.reason)
        });
        let counts = parts.iter().map(|part| part.counts);
        let seconds = parts.iter().map(|part| part.seconds);
        let matrices = parts.iter().map(|part| part.matrix.as_deref());
        CiSelection {
            mode: match (is_every("none"), is_every("all")) {
                (true, _) => "none",
                (false, true) => "all",
                (false, false) => "selected",
            },
            reason: reasons.collect::<Vec<_>>().join("; "),
            counts: counts
                .reduce(|a, b| a.zip(b).map(|(a, b)| (a.0 + b.0, a.1 + b.1)))
                .flatten(),
            seconds: seconds
                .reduce(|a, b| a.zip(b).map(|(a, b)| (a.0 + b.0, a.1 + b.1)))
                .flatten(),
            matrix: matrices
                .collect::<Option<Vec<_>>>()
                .map(|texts| join_matrices(&texts)),
            parts,
            ..CiSelection::default()
        }
    }

    /// The outputs of a step by name. An empty one means all.
    pub(crate) fn outputs(&self) -> Vec<(&'static str, String)> {
        let number = |count: Option<usize>| count.map_or_else(String::new, |n| n.to_string());
        let file = |name: &str| match &self.out {
            Some(out) => format!("{out}/{name}"),
            None => String::new(),
        };
        vec![
            ("mode", self.mode.to_owned()),
            ("count", number(self.counts.map(|(selected, _)| selected))),
            ("total", number(self.counts.map(|(_, total)| total))),
            ("reason", escape::line(&self.reason).into_owned()),
            ("matrix", self.matrix.clone().unwrap_or_default()),
            ("list-path", file("tests.txt")),
            ("exclude-path", file("exclude.txt")),
            ("args-path", file("pytest.args")),
            (
                "estimate",
                self.seconds
                    .map_or_else(String::new, |(chosen, _)| format!("{chosen:.1}")),
            ),
            ("suites", self.suites()),
        ]
    }

    /// The outputs of each suite, as JSON; empty if there is only one.
    fn suites(&self) -> String {
        if self.parts.is_empty() {
            return String::new();
        }
        let mut suites = serde_json::Map::new();
        for part in &self.parts {
            let outputs = part
                .outputs()
                .into_iter()
                .filter(|(name, _)| *name != "suites");
            let outputs = outputs.map(|(name, value)| {
                let value = match name {
                    // As a value that `matrix:` can take directly.
                    "matrix" => serde_json::from_str(&value).unwrap_or(Value::Null),
                    _ => Value::from(value),
                };
                (name.to_owned(), value)
            });
            suites.insert(part.suite.clone().unwrap_or_default(), outputs.collect());
        }
        Value::Object(suites).to_string()
    }

    /// The text to append to `GITHUB_OUTPUT`. Each value is between two lines that nobody can
    /// foresee.
    pub(crate) fn github_output(&self) -> String {
        let mut text = String::new();
        for (name, value) in self.outputs() {
            let mark = mark(&value);
            let _ = writeln!(text, "{name}<<{mark}\n{value}\n{mark}");
        }
        text
    }

    /// GitLab's `artifacts:reports:dotenv`. Its values may only have letters, digits and a few
    /// signs, so it has no reason and no path.
    pub(crate) fn dotenv(&self, shards: Option<u32>) -> String {
        let mut text = format!("TAMIS_OUT_MODE={}\n", self.mode);
        if let Some((selected, total)) = self.counts {
            let _ = writeln!(text, "TAMIS_OUT_COUNT={selected}\nTAMIS_OUT_TOTAL={total}");
        }
        if let Some((chosen, _)) = self.seconds {
            let _ = writeln!(text, "TAMIS_OUT_ESTIMATE={chosen:.1}");
        }
        if let Some(shards) = shards {
            let _ = writeln!(text, "TAMIS_OUT_SHARDS={shards}");
        }
        text
    }

    /// A notice with the result, a warning for each fallback.
    pub(crate) fn annotations(&self) -> String {
        if !self.parts.is_empty() {
            return self.parts.iter().map(CiSelection::annotations).collect();
        }
        let mut text = annotation(Level::Notice, &self.headline());
        for fallback in self.fallbacks.iter().take(MOST_ANNOTATIONS) {
            text.push_str(&annotation(
                Level::Warning,
                &format!("running more: {fallback}"),
            ));
        }
        text
    }

    fn headline(&self) -> String {
        let what = match (self.mode, self.counts) {
            ("none", Some((_, 1))) => "the only test does not have to run".to_owned(),
            ("none", Some((_, total))) => {
                format!("none of {} has to run", counted(total, "test"))
            }
            ("selected", Some((selected, total))) => {
                let selected = number(selected as u64);
                format!("{selected} of {} selected", counted(total, "test"))
            }
            _ => "all tests selected".to_owned(),
        };
        let suite = self.suite.as_ref().map(|suite| format!("{suite}: "));
        let what = format!("{}{what}", suite.unwrap_or_default());
        match self.reason.is_empty() {
            true => what,
            false => format!("{what}: {}", self.reason),
        }
    }

    /// How much test time is saved, and what that does not include.
    fn saving(&self) -> Option<String> {
        let (chosen, all) = self.seconds.filter(|(_, all)| *all > 0.0)?;
        if self.mode == "none" {
            return Some(format!("All {all:.1} s of recorded test time are saved."));
        }
        let beside = match (self.jobs(), self.compiles) {
            (Some(jobs), true) => format!("what {} and compiling take", starts(jobs)),
            (Some(jobs), false) => format!("what {} takes", starts(jobs)),
            (None, true) => "compiling".to_owned(),
            (None, false) => String::new(),
        };
        let beside = match beside.is_empty() {
            true => beside,
            false => format!(", not counting {beside}"),
        };
        // While any test runs, the saving is not complete.
        let saved = (100.0 * (1.0 - chosen / all)).round().min(99.0);
        Some(match self.counts {
            Some((0, _)) => {
                format!("None of {all:.1} s of recorded test time is selected{beside}.")
            }
            _ => format!(
                "About {chosen:.1} s of {all:.1} s of recorded test time: {saved:.0} % \
                 saved{beside}."
            ),
        })
    }

    /// How many jobs start, if the selection is divided.
    fn jobs(&self) -> Option<usize> {
        let matrix: Value = serde_json::from_str(self.matrix.as_deref()?).ok()?;
        let jobs = matrix["include"].as_array()?.len();
        (jobs > 0).then_some(jobs)
    }

    /// The text to append to `GITHUB_STEP_SUMMARY`.
    pub(crate) fn step_summary(&self) -> String {
        if !self.parts.is_empty() {
            return self.parts.iter().map(CiSelection::step_summary).collect();
        }
        let mut text = format!("### tamis: {}\n\n", markdown(&self.headline()));
        if let Some((selected, total)) = self.counts.filter(|(_, total)| *total > 0) {
            let left_out = total - selected;
            let _ = writeln!(text, "```mermaid\npie showData");
            let _ = writeln!(
                text,
                "  \"run\" : {selected}\n  \"left out\" : {left_out}\n```\n"
            );
        }
        if let Some(saving) = self.saving() {
            let _ = writeln!(text, "{saving}\n");
        }
        if !self.causes.is_empty() {
            let _ = writeln!(text, "| tests | run because |\n|--:|---|");
            for (cause, count) in self.causes.iter().take(MOST_CAUSES) {
                let _ = writeln!(text, "| {count} | {} |", markdown(cause));
            }
            let rest = self.causes.iter().skip(MOST_CAUSES);
            let rest: usize = rest.map(|(_, count)| count).sum();
            if rest > 0 {
                let _ = writeln!(text, "| {rest} | other causes |");
            }
            text.push('\n');
        }
        if !self.fallbacks.is_empty() {
            let _ = writeln!(text, "More tests run than could:\n");
            for fallback in self.fallbacks.iter().take(MOST_CAUSES) {
                let _ = writeln!(text, "- {}", markdown(fallback));
            }
            text.push('\n');
        }
        text
    }
}

fn starts(jobs: usize) -> String {
    format!("starting {}", counted(jobs, "job"))
}

/// Joins the entries of several matrices.
fn join_matrices(texts: &[&str]) -> String {
    let entries = texts.iter().flat_map(|text| {
        let matrix: Value = serde_json::from_str(text).unwrap_or_default();
        let include = matrix["include"].as_array().cloned();
        include.unwrap_or_default()
    });
    json!({ "include": entries.collect::<Vec<_>>() }).to_string()
}

/// A line that does not occur in `value`, new for every value.
fn mark(value: &str) -> String {
    loop {
        let random = || std::hash::RandomState::new().build_hasher().finish();
        let mark = format!("tamis_{:016x}{:016x}", random(), random());
        if !value.contains(&mark) {
            return mark;
        }
    }
}

/// Escapes Markdown and HTML: each special character becomes an entity, which is never
/// structure in Markdown.
fn markdown(text: &str) -> String {
    let mut shown = String::new();
    for c in escape::line(text).chars().take(LONGEST_CAUSE) {
        match c {
            ' ' => shown.push(c),
            c if c.is_alphanumeric() => shown.push(c),
            c => {
                let _ = write!(shown, "&#{};", u32::from(c));
            }
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Reads `GITHUB_OUTPUT` as the runner does.
    fn read_output(text: &str) -> BTreeMap<String, String> {
        let mut outputs = BTreeMap::new();
        let mut lines = text.split('\n');
        while let Some(line) = lines.next() {
            if line.is_empty() {
                continue;
            }
            let equals = line.find('=').unwrap_or(usize::MAX);
            let heredoc = line.find("<<").unwrap_or(usize::MAX);
            assert!(heredoc < equals, "{line}");
            let (name, mark) = line.split_once("<<").unwrap();
            let value: Vec<&str> = lines.by_ref().take_while(|line| *line != mark).collect();
            outputs.insert(name.to_owned(), value.join("\n"));
        }
        outputs
    }

    fn hostile(text: &str) -> CiSelection {
        CiSelection {
            suite: None,
            parts: Vec::new(),
            mode: "selected",
            reason: text.to_owned(),
            counts: Some((3, 12)),
            seconds: Some((1.0, 4.0)),
            compiles: false,
            matrix: Some("{\"include\":[]}".to_owned()),
            out: Some("out".to_owned()),
            fallbacks: vec![text.to_owned()],
            causes: vec![(text.to_owned(), 3)],
        }
    }

    #[test]
    fn the_summary_reads_well() {
        insta::assert_snapshot!(hostile("code a.py changed").step_summary(), @r#"
        ### tamis: 3 of 12 tests selected&#58; code a&#46;py changed

        ```mermaid
        pie showData
          "run" : 3
          "left out" : 9
        ```

        About 1.0 s of 4.0 s of recorded test time: 75 % saved.

        | tests | run because |
        |--:|---|
        | 3 | code a&#46;py changed |

        More tests run than could:

        - code a&#46;py changed
        "#);
    }

    #[test]
    fn the_saving_does_not_count_what_starts() {
        let told = |mode, counts, seconds, jobs: usize, compiles| {
            let entries = vec![json!({}); jobs];
            let selection = CiSelection {
                mode,
                counts: Some(counts),
                seconds: Some(seconds),
                matrix: Some(json!({ "include": entries }).to_string()),
                compiles,
                ..hostile("why")
            };
            let summary = selection.step_summary();
            let lines = summary.lines().filter(|line| line.contains("test time"));
            (selection.headline(), lines.collect::<String>())
        };
        let lines = [
            told("none", (0, 1), (0.0, 4.0), 0, true),
            told("none", (0, 1992), (0.0, 4.0), 0, false),
            told("selected", (0, 12), (0.0, 4.0), 1, false),
            told("selected", (3, 12), (1.0, 4.0), 2, false),
            told("selected", (1, 1), (0.001, 4.0), 4, true),
            told("selected", (1, 12), (1.0, 4.0), 0, true),
        ];
        let lines = lines.map(|(headline, saving)| format!("{headline}\n  {saving}"));
        insta::assert_snapshot!(lines.join("\n"), @r"
        the only test does not have to run: why
          All 4.0 s of recorded test time are saved.
        none of 1,992 tests has to run: why
          All 4.0 s of recorded test time are saved.
        0 of 12 tests selected: why
          None of 4.0 s of recorded test time is selected, not counting what starting 1 job takes.
        3 of 12 tests selected: why
          About 1.0 s of 4.0 s of recorded test time: 75 % saved, not counting what starting 2 jobs takes.
        1 of 1 test selected: why
          About 0.0 s of 4.0 s of recorded test time: 99 % saved, not counting what starting 4 jobs and compiling take.
        1 of 12 tests selected: why
          About 1.0 s of 4.0 s of recorded test time: 75 % saved, not counting compiling.
        ");
    }

    #[test]
    fn what_nobody_knows_is_empty() {
        let all = Selection::all(crate::select::Strategy::Auto, "nothing is recorded yet");
        let outputs = read_output(&CiSelection::new(&all, &[]).github_output());
        assert_eq!(outputs["mode"], "all");
        assert_eq!((&*outputs["count"], &*outputs["matrix"]), ("", ""));
        assert_eq!(outputs["reason"], "nothing is recorded yet");
    }

    #[test]
    fn several_suites_are_one_answer_and_each_its_own() {
        let part = |suite: &str, mode, counts, shard: u32| CiSelection {
            suite: Some(suite.to_owned()),
            mode,
            counts,
            matrix: Some(match mode {
                "none" => r#"{"include":[]}"#.to_owned(),
                _ => format!(r#"{{"include":[{{"shard":{shard},"suite":"{suite}"}}]}}"#),
            }),
            ..hostile("why")
        };
        let join = |parts: &[CiSelection]| {
            let joined = CiSelection::join(parts.to_vec());
            read_output(&joined.github_output())
        };
        let (a, b) = (
            part("a", "selected", Some((1, 4)), 1),
            part("b", "none", Some((0, 5)), 1),
        );
        let both = join(&[a.clone(), b.clone()]);
        assert_eq!(both["mode"], "selected");
        assert_eq!((&*both["count"], &*both["total"]), ("1", "9"));
        assert_eq!(both["matrix"], r#"{"include":[{"shard":1,"suite":"a"}]}"#);
        assert_eq!(both["reason"], "a: why; b: why");
        let suites: Value = serde_json::from_str(&both["suites"]).unwrap();
        assert_eq!(suites["b"]["mode"], "none");
        assert_eq!(suites["a"]["matrix"]["include"][0]["shard"], 1);
        assert_eq!(join(&[b.clone(), b.clone()])["mode"], "none");
        let all = part("c", "all", None, 2);
        assert_eq!(join(&[all.clone(), all.clone()])["mode"], "all");
        let mixed = join(&[all, b]);
        assert_eq!((&*mixed["mode"], &*mixed["count"]), ("selected", ""));
    }

    #[test]
    fn a_dotenv_report_holds_plain_values_only() {
        let text = hostile("$(id)\nTAMIS_OUT_MODE=none").dotenv(Some(4));
        insta::assert_snapshot!(text, @r"
        TAMIS_OUT_MODE=selected
        TAMIS_OUT_COUNT=3
        TAMIS_OUT_TOTAL=12
        TAMIS_OUT_ESTIMATE=1.0
        TAMIS_OUT_SHARDS=4
        ");
    }

    /// Texts with all characters that are special in outputs.
    fn texts() -> impl Strategy<Value = String> {
        let parts = prop_oneof![
            Just("\n".to_owned()),
            Just("\r\n".to_owned()),
            Just("::set-output name=mode::none".to_owned()),
            Just("mode<<EOF\nnone\nEOF\n".to_owned()),
            Just("mode=none\n".to_owned()),
            Just("##[set-output name=mode;]none".to_owned()),
            Just("%0A::error::".to_owned()),
            Just("</td><script>".to_owned()),
            Just("```\n# x".to_owned()),
            Just("| a | b |".to_owned()),
            Just("$(id)`id`".to_owned()),
            Just("[a](javascript:b)".to_owned()),
            "\\PC{0,8}",
            ".{0,4}",
        ];
        prop::collection::vec(parts, 0..6).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn hostile_names_get_through_outputs_as_they_are_and_no_further(text in texts()) {
            let selection = hostile(&text);
            let outputs = read_output(&selection.github_output());
            let wanted: BTreeMap<String, String> = selection
                .outputs()
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect();
            prop_assert_eq!(&outputs, &wanted);
            prop_assert_eq!(&outputs["mode"], "selected");
            prop_assert_eq!(&outputs["reason"], &escape::line(&text).into_owned());
        }

        #[test]
        fn hostile_names_are_no_command_and_no_markup(text in texts()) {
            let selection = hostile(&text);
            let commands = selection.annotations();
            prop_assert_eq!(commands.lines().count(), 2);
            prop_assert!(commands.lines().all(|line| line.starts_with("::notice title=tamis::")
                || line.starts_with("::warning title=tamis::")));
            let plain = hostile("x").step_summary();
            let summary = selection.step_summary();
            prop_assert_eq!(summary.lines().count(), plain.lines().count());
            for line in summary.lines().filter(|line| !line.starts_with("```")) {
                prop_assert!(!line.contains(['<', '`', '[', '\u{202e}']), "{line}");
            }
        }
    }
}
