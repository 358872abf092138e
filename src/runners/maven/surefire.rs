//! Which version of Surefire a project has, and what does not work with it.

use std::path::Path;

use super::around::local_repository;
use super::modules;
use super::parents::{Poms, plugins, value};

/// What Maven takes up to 3.8 where no pom names a version.
pub const OF_OLD_MAVEN: &str = "2.12.4";

/// The first version that can be told what to leave out.
const OLDEST: [u32; 3] = [2, 19, 0];

/// The first that finds tests of JUnit 5, and that can leave out single methods.
const JUPITER: [u32; 3] = [2, 22, 0];
const METHODS: &str = "3.0.0-M6";

/// What the poms of a project say.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// The versions of the plugin, in all modules; empty if none is named.
    pub versions: Vec<String>,
    /// Whether JUnit 5 is among the dependencies that are named.
    pub has_jupiter: bool,
    /// Why not all poms are known, if so.
    pub unknown: Option<String>,
}

/// Reads the poms of the modules of `project`, and those that they inherit from.
pub fn said(project: &Path) -> Said {
    let repository = local_repository(project, &[]);
    let mut said = Said::default();
    for module in modules(project) {
        let poms = match Poms::of(&module, &repository) {
            Ok(poms) => poms,
            Err(why) => {
                said.unknown.get_or_insert(why);
                continue;
            }
        };
        let texts = || poms.texts.iter();
        said.has_jupiter |= texts().any(|pom| pom.contains("<artifactId>junit-jupiter"));
        let of_plugin = |pom: &String| {
            let mut found = plugins(pom)
                .filter(|plugin| plugin.contains("<artifactId>maven-surefire-plugin<"))
                .filter_map(|plugin| value(plugin, "version").map(str::to_owned));
            found.next()
        };
        let named = texts().find_map(of_plugin);
        let meant = named.map(|named| {
            let property = named
                .strip_prefix("${")
                .and_then(|rest| rest.strip_suffix('}'));
            let value = property.and_then(|name| texts().find_map(|pom| value(pom, name)));
            value.map(str::to_owned).unwrap_or(named)
        });
        said.versions.extend(meant);
    }
    said.versions.sort();
    said.versions.dedup();
    said
}

/// What does not work with a version; `None` if all does, or nobody knows.
pub fn trouble(version: &str, has_jupiter: bool, by_method: bool) -> Option<String> {
    let parts = parts(version)?;
    if has_jupiter && parts < JUPITER {
        return Some(format!("Surefire {version} finds no tests of JUnit 5"));
    }
    if parts < OLDEST {
        return Some(format!(
            "Surefire {version} cannot be told what to leave out: all tests run every time"
        ));
    }
    (by_method && super::plain::is_old(version))
        .then(|| format!("Surefire {version} cannot leave out single methods: whole classes run"))
}

/// The version to take instead.
pub fn remedy(by_method: bool) -> String {
    let least = match by_method {
        true => METHODS,
        false => "2.22.2",
    };
    format!("name maven-surefire-plugin {least} or later in pom.xml (tried: up to 3.5.4)")
}

/// The numbers at the beginning of a version.
pub fn parts(version: &str) -> Option<[u32; 3]> {
    let numbers = version.split('-').next()?.split('.');
    let mut parts = [0; 3];
    for (part, number) in parts.iter_mut().zip(numbers) {
        *part = number.parse().ok()?;
    }
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_where_it_is_named() {
        let top = tempfile::tempdir().unwrap();
        let of = |pom: &str| {
            fs_err::write(top.path().join("pom.xml"), pom).unwrap();
            said(top.path())
        };
        let plugin = |version: &str| {
            format!(
                "<project><surefire.version>3.2.5</surefire.version><plugin>\
                 <artifactId>maven-surefire-plugin</artifactId>{version}</plugin>\
                 <plugin><artifactId>other</artifactId><version>1</version></plugin>\
                 <artifactId>junit-jupiter-api</artifactId></project>"
            )
        };
        let named = of(&plugin("<version>2.22.2</version>"));
        assert_eq!(
            (named.versions, named.has_jupiter),
            (vec!["2.22.2".to_owned()], true)
        );
        let property = of(&plugin("<version>${surefire.version}</version>"));
        assert_eq!(property.versions, ["3.2.5"]);
        let nothing = of(&plugin(""));
        assert!(nothing.versions.is_empty() && nothing.unknown.is_none());
        let lost =
            of("<project><parent><groupId>no.such</groupId><relativePath/></parent></project>");
        assert!(lost.unknown.is_some());
    }

    #[test]
    fn what_does_not_work_with_a_version_is_told() {
        let told = |version: &str, jupiter, by_method| {
            trouble(version, jupiter, by_method).unwrap_or_default()
        };
        assert!(told("2.12.4", true, false).contains("no tests of JUnit 5"));
        assert!(told("2.12.4", false, false).contains("what to leave out"));
        assert!(told("2.22.2", true, true).contains("single methods"));
        for (version, by_method) in [("2.19.1", false), ("3.0.0-M6", true), ("3.5.4", true)] {
            assert_eq!(told(version, false, by_method), "");
        }
        assert_eq!(told("${nobody.knows}", true, true), "");
    }
}
