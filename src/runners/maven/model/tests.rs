//! What poms make of a project, and what they keep from being known.

use std::collections::BTreeMap;

use super::*;

fn model(files: &[(&str, &str)]) -> Result<Model, String> {
    let files: BTreeMap<BString, Vec<u8>> = files
        .iter()
        .map(|(path, text)| {
            (
                BString::from(*path),
                format!("<project>{text}</project>").into_bytes(),
            )
        })
        .collect();
    Model::of(BStr::new(""), &|path: &BStr| files.get(path).cloned())
}

fn one(text: &str) -> Result<Model, String> {
    model(&[("pom.xml", text)])
}

fn plugin(artifact: &str, more: &str) -> String {
    format!(
        "<build><plugins><plugin><artifactId>{artifact}</artifactId>{more}</plugin></plugins></build>"
    )
}

#[test]
fn plain_poms_are_understood() {
    let plain = one("").unwrap();
    assert!(!plain.has_encoding && plain.artifacts.len() == 1);
    assert_eq!(plain.modules[0].main, "src/main/java");
    assert_eq!(plain.modules[0].output(true), "target/test-classes");
    assert!(plain.modules[0].has_plain_resources && !plain.is_without_processors);
    let set = "<configuration><release>17</release><compilerArgs><arg>-Xlint:all</arg></compilerArgs><proc>none</proc></configuration>";
    assert!(
        one(&plugin("maven-compiler-plugin", set))
            .unwrap()
            .is_without_processors
    );
    let moved = one("<build><sourceDirectory>src/java</sourceDirectory></build>").unwrap();
    assert_eq!(moved.modules[0].main, "src/java");
    let filtering =
        "<build><resources><resource><filtering>true</filtering></resource></resources></build>";
    assert!(one(filtering).unwrap().modules[0].filters);
    // Reports are nobody's classes, and what is only managed is not used.
    assert!(one("<reporting><plugins><plugin><artifactId>maven-x</artifactId></plugin></plugins></reporting>").is_ok());
    assert!(one("<build><pluginManagement><plugins><plugin><artifactId>maven-x</artifactId></plugin></plugins></pluginManagement></build>").is_ok());
}

#[test]
fn modules_and_parents_are_followed() {
    let parent = "<parent><groupId>g</groupId><artifactId>top</artifactId><version>1</version>";
    let files = [
        (
            "pom.xml",
            "<artifactId>top</artifactId><modules><module>core</module></modules>".to_owned(),
        ),
        ("core/pom.xml", format!("{parent}</parent>")),
        ("other/pom.xml", plugin("kotlin-maven-plugin", "")),
    ];
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(path, text)| (*path, text.as_str()))
        .collect();
    let found = model(&files).unwrap();
    let dirs: Vec<&BString> = found.modules.iter().map(|module| &module.dir).collect();
    assert_eq!(dirs, ["", "core"]);
    assert!(found.parents.is_empty());
    let elsewhere = one(&format!("{parent}<relativePath/></parent>")).unwrap();
    assert_eq!(elsewhere.parents.len(), 1);
    assert!(one("<modules><module>gone</module></modules>").is_err());
    assert!(one("<modules><module>../x</module></modules>").is_err());
}

#[test]
fn what_a_parent_says_of_sources_holds_below() {
    let parent = "<parent><artifactId>top</artifactId></parent>";
    let of_top = |build: &str| {
        let top = format!(
            "<artifactId>top</artifactId><modules><module>core</module></modules><build>{build}</build>"
        );
        model(&[("pom.xml", &top), ("core/pom.xml", parent)])
    };
    let resources = |more: &str| format!("<resources><resource>{more}</resource></resources>");
    assert!(of_top("").unwrap().modules[1].has_plain_resources);
    let found = of_top(&resources("<directory>conf</directory>")).unwrap();
    assert!(!found.modules[1].has_plain_resources && !found.modules[1].filters);
    let found = of_top(&resources("<filtering>true</filtering>")).unwrap();
    assert!(found.modules[1].filters);
    assert!(of_top("<sourceDirectory>src</sourceDirectory>").is_err());
    // A source is of one module and one side.
    assert!(one("<build><sourceDirectory>src</sourceDirectory></build>").is_err());
    let shared = "<build><sourceDirectory>../src/main/java</sourceDirectory></build>";
    let modules = "<modules><module>core</module></modules>";
    assert!(model(&[("pom.xml", modules), ("core/pom.xml", shared)]).is_err());
}

#[test]
fn goals_of_a_command_are_those_of_plugins() {
    for word in [
        "jacoco:report",
        "org.x:maven-jar-plugin:3.3.0:jar",
        "surefire:test@id",
    ] {
        assert_eq!(doubt_of_goal(word), None, "{word}");
    }
    for word in ["antrun:run", "dependency:unpack", "org.x:y:1:z", "x:y"] {
        assert!(doubt_of_goal(word).is_some(), "{word}");
    }
    assert_eq!(doubt_of_goal("test"), None);
}

#[test]
fn what_may_make_classes_is_a_reason() {
    let compiler = |set: &str| {
        plugin(
            "maven-compiler-plugin",
            &format!("<configuration>{set}</configuration>"),
        )
    };
    for text in [
        plugin("kotlin-maven-plugin", ""),
        plugin("maven-dependency-plugin", "<executions><execution><goals><goal>unpack</goal></goals></execution></executions>"),
        plugin("maven-jar-plugin", "<extensions>true</extensions>"),
        compiler("<annotationProcessorPaths/>"),
        compiler("<compilerArgs><arg>-Xplugin:ErrorProne</arg></compilerArgs>"),
        compiler("<proc>only</proc><compilerId>eclipse</compilerId>"),
        "<packaging>bundle</packaging>".to_owned(),
        "<build><outputDirectory>out</outputDirectory></build>".to_owned(),
        "<build><sourceDirectory>${x}/src</sourceDirectory></build>".to_owned(),
        "<properties><maven.compiler.release>${env.RELEASE}</maven.compiler.release></properties>".to_owned(),
        "<properties><project.build.sourceEncoding>UTF-16</project.build.sourceEncoding></properties>".to_owned(),
        "<dependencies><dependency><artifactId>lombok</artifactId></dependency></dependencies>".to_owned(),
        "<dependencies><dependency><version>[1,2)</version></dependency></dependencies>".to_owned(),
        "<dependencyManagement><dependencies><dependency><artifactId>b</artifactId><version>1-SNAPSHOT</version><scope>import</scope></dependency></dependencies></dependencyManagement>".to_owned(),
        "<properties><b>1-SNAPSHOT</b></properties><dependencyManagement><dependencies><dependency><artifactId>b</artifactId><version>${b}</version><scope>import</scope></dependency></dependencies></dependencyManagement>".to_owned(),
        "<profiles><profile><activation><file><exists>x</exists></file></activation></profile></profiles>".to_owned(),
        "<build><pluginManagement><plugins><plugin><artifactId>maven-compiler-plugin</artifactId><configuration><annotationProcessors/></configuration></plugin></plugins></pluginManagement></build>".to_owned(),
        format!("<profiles><profile>{}</profile></profiles>", plugin("exec-maven-plugin", "")),
    ] {
        assert!(one(&text).is_err(), "{text}");
    }
    assert!(model(&[("pom.xml", ""), (".mvn/extensions.xml", "")]).is_err());
    let files = ["java/pom.xml", ".mvn/extensions.xml"];
    let read = |path: &BStr| {
        files
            .iter()
            .any(|it| path == it)
            .then(|| b"<project/>".to_vec())
    };
    assert!(Model::of(BStr::new("java"), &read).is_err());
    assert!(Model::of(BStr::new(""), &|_: &BStr| None).is_err());
}

#[test]
fn parents_from_elsewhere_are_looked_at() {
    let mut found = one("").unwrap();
    assert!(
        found
            .add_parent(
                "p",
                b"<project><parent><groupId>g</groupId></parent></project>"
            )
            .is_ok()
    );
    assert_eq!(found.parents.len(), 1);
    let kotlin = format!("<project>{}</project>", plugin("kotlin-maven-plugin", ""));
    assert!(found.add_parent("p", kotlin.as_bytes()).is_err());
    let moved = b"<project><build><sourceDirectory>x</sourceDirectory></build></project>";
    assert!(found.add_parent("p", moved).is_err());
}
