//! What poms make of a project, and what they keep from being known.

use std::collections::BTreeMap;

use super::*;

fn model(files: &[(&str, &str)]) -> Result<Model, String> {
    model_with(files, None)
}

fn model_with(files: &[(&str, &str)], repository: Option<&Path>) -> Result<Model, String> {
    let files: BTreeMap<BString, Vec<u8>> = files
        .iter()
        .map(|(path, text)| {
            (
                BString::from(*path),
                format!("<project>{text}</project>").into_bytes(),
            )
        })
        .collect();
    let read = |path: &BStr| files.get(path).cloned();
    Model::of(BStr::new(""), &read, repository)
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
            "<groupId>g</groupId><artifactId>top</artifactId><version>1</version>\
             <modules><module>core</module></modules>"
                .to_owned(),
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
    // Nothing from elsewhere is missing, and something is.
    let nothing = Some(Path::new("/no/such"));
    assert!(model_with(&files, nothing).is_ok());
    let elsewhere = format!("{parent}<relativePath/></parent>");
    assert!(one(&elsewhere).is_ok());
    assert!(model_with(&[("pom.xml", &elsewhere)], nothing).is_err());
    // Changes of a pom with another name would not be noticed.
    let files = [
        (
            "pom.xml",
            "<modules><module>core/other.xml</module></modules>",
        ),
        ("core/other.xml", ""),
    ];
    assert!(model(&files).is_err());
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
    assert!(Model::of(BStr::new("java"), &read, None).is_err());
    assert!(Model::of(BStr::new(""), &|_: &BStr| None, None).is_err());
}

#[test]
fn parents_from_elsewhere_are_looked_at() {
    let repository = tempfile::tempdir().unwrap();
    let of_parent = |version: &str, above: &str| {
        let name = ("g".to_owned(), "p".to_owned(), version.to_owned());
        let file = crate::runners::maven::pom::pom_in(repository.path(), &name);
        fs_err::create_dir_all(file.parent().unwrap()).unwrap();
        fs_err::write(file, format!("<project>{above}</project>")).unwrap();
        let named =
            format!("<groupId>g</groupId><artifactId>p</artifactId><version>{version}</version>");
        let parent = format!("<parent>{named}<relativePath/></parent>");
        model_with(&[("pom.xml", &parent)], Some(repository.path()))
    };
    let dependency =
        "<dependencies><dependency><artifactId>x</artifactId></dependency></dependencies>";
    let found = of_parent("1", dependency).unwrap();
    assert_eq!((found.modules.len(), found.dependencies.len()), (1, 1));
    let above =
        "<parent><groupId>g</groupId><artifactId>q</artifactId><version>1</version></parent>";
    assert!(of_parent("1", above).unwrap_err().contains("g:q:1"));
    assert!(of_parent("1", &plugin("kotlin-maven-plugin", "")).is_err());
    for build in ["<sourceDirectory>x</sourceDirectory>", "<resources/>"] {
        assert!(of_parent("1", &format!("<build>{build}</build>")).is_err());
    }
    assert!(of_parent("1-SNAPSHOT", "").is_err());
}

#[test]
fn a_plugin_of_another_group_is_another_plugin() {
    let of = |group: &str| {
        let group = format!("<groupId>{group}</groupId>");
        one(&plugin("maven-jar-plugin", &group))
    };
    assert!(of("org.apache.maven.plugins").is_ok());
    assert!(of("org.x").is_err() && of("${group}").is_err());
    let extends = |text: &str| {
        let extends = format!("<extensions>{text}</extensions>");
        one(&plugin("maven-jar-plugin", &extends))
    };
    assert!(extends("false").is_ok() && extends("${x}").is_err());
}

#[test]
fn processors_are_off_where_all_say_so() {
    let compiler = |procs: &[&str]| {
        let procs = procs
            .iter()
            .map(|said| format!("<configuration><proc>{said}</proc></configuration>"));
        let of_profile = |proc: String| {
            format!(
                "<profile>{}</profile>",
                plugin("maven-compiler-plugin", &proc)
            )
        };
        let profiles: String = procs.map(of_profile).collect();
        one(&format!("<profiles>{profiles}</profiles>"))
            .unwrap()
            .is_without_processors
    };
    assert!(compiler(&["none"]) && !compiler(&[]));
    assert!(!compiler(&["none", "full"]));
}
