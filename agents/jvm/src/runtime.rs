//! The words that name a JVM. tamis also uses this module for the JDK that Maven will use.

use std::path::Path;

/// `java-17.0.15+6-linux-x86_64 ` and the content of the file `release` in the JDK folder
/// `home`.
pub fn runtime_in(home: &Path) -> String {
    let release = std::fs::read_to_string(home.join("release")).unwrap_or_default();
    let value = |name: &str| {
        let line = release.lines().find_map(|line| line.strip_prefix(name));
        line.map(|line| line.trim_matches('"').to_owned())
    };
    let version = value("JAVA_RUNTIME_VERSION=").or_else(|| value("JAVA_VERSION="));
    let version = version.unwrap_or_else(|| format!("at-{}", home.display()));
    let version = version.replace(char::is_whitespace, "-");
    format!("java-{version}-linux-{} {release}", std::env::consts::ARCH)
}

/// The folder of the JDK with the program at `program`.
pub fn home_of(program: &Path) -> &Path {
    match program.parent().and_then(Path::parent) {
        // In JDK 8, the `release` of `jre/bin/java` is one folder higher.
        Some(home) if home.ends_with("jre") => home.parent().unwrap_or(home),
        Some(home) => home,
        None => Path::new("/"),
    }
}
