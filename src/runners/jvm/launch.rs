//! Starting JVMs with the collector inside.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use crate::languages::jvm::DEBUG_INFO;
use crate::run::{RunPlan, jvm_library};
use crate::runners::{Granularity, Launch, Settings};

/// What the collector is told: the options that can alter outcomes, what a test is, and
/// what of class files counts.
pub(crate) fn arguments(
    mut options: Vec<String>,
    granularity: Granularity,
    settings: &Settings<'_>,
) -> Vec<String> {
    if granularity != Granularity::Class {
        options.push(format!("granularity={granularity}"));
    }
    if settings.debug_info {
        options.push(DEBUG_INFO.to_owned());
    }
    options
}

/// A plan in which every JVM loads the collector, as a variable tells it to. `options` are
/// those that can alter outcomes.
pub(crate) fn with_collector(
    mut plan: RunPlan,
    launch: &Launch<'_>,
    options: Vec<String>,
    granularity: Granularity,
) -> RunPlan {
    let library = jvm_library(launch.agent);
    let text = library.to_string_lossy();
    let mut option = OsString::from("-agentpath:");
    option.push(&library);
    if text.contains(char::is_whitespace) {
        // The JVM splits the variable at white space outside of quotes.
        option = OsString::from(format!("\"{}\"", option.to_string_lossy()));
    }
    let known = std::env::var_os("JAVA_TOOL_OPTIONS").filter(|known| !known.is_empty());
    if let Some(known) = known {
        option.push(" ");
        option.push(known);
    }
    if library.is_file() && !text.contains('"') {
        plan.env.push(("JAVA_TOOL_OPTIONS".into(), option));
    }
    let arguments = arguments(options, granularity, &launch.settings);
    plan.env
        .push(("TAMIS_ARGS".into(), arguments.join("\n").into()));
    if let Some(options) = std::env::var_os("MAVEN_OPTS") {
        plan.env.push(("TAMIS_MAVEN_OPTS".into(), options));
    }
    if granularity == Granularity::Method {
        plan.env.push(("TAMIS_TESTS".into(), "methods".into()));
    }
    plan
}

/// What the JVMs of tests are told, whoever starts them.
pub(crate) fn variables(traces: &Path, root: &Path, args: &[String]) -> BTreeMap<String, String> {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let pairs = [
        ("TAMIS_ARGS", args.join("\n")),
        ("TAMIS_ROOT", text(root)),
        ("TAMIS_TRACE_DIR", text(traces)),
    ];
    pairs.map(|(name, value)| (name.to_owned(), value)).into()
}

/// The words of a command as they are stored, with what variables add to it.
pub(crate) fn words(command: &[OsString]) -> Vec<String> {
    let mut words = crate::runners::wrapped::plain_words(command);
    words.extend(crate::runners::maven::options(&[], Path::new("")));
    words
}
