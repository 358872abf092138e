//! Which version of Surefire a project has, and what does not work with it.

use std::collections::BTreeSet;
use std::path::Path;

use super::around::local_repository;
use super::pom::{Doubt, Pom, Project};
use super::xml::Element;

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
    let poms = Project::of_modules(project, &local_repository(project, &[]));
    let named = |pom: &Pom| {
        let is_surefire = |one: &&Element| one.text_of("artifactId") == "maven-surefire-plugin";
        let mut versions = pom.plugins().filter(is_surefire);
        let version = versions.find_map(|one| one.child("version"))?;
        Some(version.text.clone())
    };
    // The nearest one of each module.
    let modules = poms.poms.iter().filter(|pom| pom.is_own);
    let nearest = modules.filter_map(|pom| poms.lineage(pom).into_iter().find_map(named));
    let values = nearest.flat_map(|version| match poms.values(&version) {
        values if values.len() > 1 => values.into_iter().filter(|it| *it != version).collect(),
        _ => vec![version],
    });
    let versions: BTreeSet<String> = values.collect();
    let mut artifacts = poms.every().filter(|one| one.name == "artifactId");
    Said {
        versions: versions.into_iter().collect(),
        has_jupiter: artifacts.any(|one| one.text.starts_with("junit-jupiter")),
        unknown: poms.doubt().map(Doubt::to_string),
    }
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
    (by_method && super::told::is_old(version))
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
                "<project><properties><surefire.version>3.2.5</surefire.version></properties><plugin>\
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
