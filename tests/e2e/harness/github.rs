//! Projects in a simulated run on GitHub.

use super::Project;

/// Sets the variables of the runner. Its files are outside the project.
pub fn on_github(project: &mut Project, event: &str, reference: &str, payload: &str) {
    project.write("@outside/event.json", payload);
    for name in ["output", "summary"] {
        project.write(&format!("@outside/{name}"), "");
    }
    let path = |name: &str| {
        project
            .path(&format!("@outside/{name}"))
            .display()
            .to_string()
    };
    let head = project.git(&["rev-parse", "HEAD"]).trim().to_owned();
    for (name, value) in [
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_EVENT_NAME", event),
        ("GITHUB_EVENT_PATH", &path("event.json")),
        ("GITHUB_OUTPUT", &path("output")),
        ("GITHUB_STEP_SUMMARY", &path("summary")),
        ("GITHUB_SHA", &head),
        ("GITHUB_REF", reference),
    ] {
        project.set_env(name, Some(value));
    }
}

/// The names of the outputs, as the runner reads them, and their values.
pub fn outputs(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut lines = text.split('\n');
    while let Some(line) = lines.next() {
        match line.split_once("<<") {
            Some((name, mark)) => {
                let value: Vec<&str> = lines.by_ref().take_while(|line| *line != mark).collect();
                found.push((name.to_owned(), value.join("\n")));
            }
            None => assert_eq!(line, "", "a line outside of every value"),
        }
    }
    found
}
