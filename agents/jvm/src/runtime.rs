//! The words that name a JVM. Also part of tamis itself, which asks the JDK
//! that Maven will use.

use std::path::Path;

/// `java-17.0.15+6-linux-x86_64 ` and the file `release` of the JDK in `home`.
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

/// The folder of the JDK whose program is at `program`.
pub fn home_of(program: &Path) -> &Path {
    match program.parent().and_then(Path::parent) {
        // `jre/bin/java` of a JDK 8 has its `release` one higher.
        Some(home) if home.ends_with("jre") => home.parent().unwrap_or(home),
        Some(home) => home,
        None => Path::new("/"),
    }
}
