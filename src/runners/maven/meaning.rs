//! What of a `pom.xml` can have a part in a test: not what it tells people, nor what
//! tools do that look at a project and leave it as it is.
//!
//! What a build makes is compared as files are. So a pom reaches tests otherwise only by
//! what Surefire and Failsafe tell their JVMs, by the dependencies, and by what these
//! refer to. All that stays, and with it whatever is referred to from there.

use std::collections::BTreeSet;

use super::plugins::{has_word, is_no_part, is_of_looking, packing_early, runs_scripts};
use super::xml::Element;
use crate::matrix::Fingerprint;

/// What a project says of itself, for people and for publishing.
const DESCRIPTION: &str = "ciManagement contributors description developers \
    distributionManagement inceptionYear issueManagement licenses mailingLists name \
    organization reporting scm url";

/// What else a project has that may be referred to, in small letters.
const OTHER: &str = "artifact artifactid basedir build groupid modelversion packaging version";

/// The names of parts that would be dropped if nothing referred to them, and to which
/// something does in all that is said: by the poms of a project and all that they inherit
/// from, settings, and words of commands, which are texts. `None` if something is not
/// understood.
pub fn kept(said: &[&Element]) -> Option<BTreeSet<String>> {
    if said.iter().any(|one| runs_scripts(one)) {
        return None;
    }
    let mut kept = packing_early(said);
    loop {
        let mut found = BTreeSet::new();
        let mut is_plain = true;
        for pom in said {
            walk(pom, &kept, &mut |element| {
                is_plain &= refer(element, &mut found);
            });
        }
        if !is_plain {
            return None;
        }
        if found.is_subset(&kept) {
            return Some(kept);
        }
        kept.extend(found);
    }
}

/// That of a pom which keeps these parts; `None`: there is none.
pub fn pom_fingerprint(pom: Option<Vec<u8>>, kept: &[String]) -> Fingerprint {
    let Some(pom) = pom else {
        return Fingerprint::MISSING;
    };
    match meaning(&pom, &kept.iter().cloned().collect()) {
        Some(form) => Fingerprint::of_digest("tamis pom 1", &form),
        None => Fingerprint::of_digest("tamis pom 1 raw", &pom),
    }
}

/// A pom without what has no part, in a form in which layout and comments do not
/// count; `None` if that is not known.
fn meaning(pom: &[u8], kept: &BTreeSet<String>) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(pom).ok()?;
    let head = text.split("?>").next().unwrap_or_default();
    let is_declared = head.contains("<?xml") && head.contains("encoding");
    if is_declared && !head.to_lowercase().contains("utf-8") {
        return None;
    }
    let pom = Element::read(pom)
        .ok()
        .filter(|pom| pom.name == "project")?;
    let mut form = Vec::new();
    let mut is_plain = true;
    walk(&pom, kept, &mut |element| {
        let mut part = |text: &str| {
            form.extend_from_slice(&(text.len() as u64).to_be_bytes());
            form.extend_from_slice(text.as_bytes());
        };
        part(&element.name);
        part(&element.text);
        for (name, value) in &element.attributes {
            // Then white space counts.
            is_plain &= name != "xml:space";
            part(name);
            part(value);
        }
        form.push(b'(');
        // What is new may refer to something, too.
        is_plain &= refer(element, &mut BTreeSet::new());
    });
    is_plain.then_some(form)
}

/// Tells of the pom's element and of those in it that may have a part, with an empty one
/// behind the last of each.
fn walk(pom: &Element, kept: &BTreeSet<String>, tell: &mut dyn FnMut(&Element)) {
    let is_schema = |name: &str| name.starts_with("xmlns") || name.starts_with("xsi:");
    let attributes = pom.attributes.iter();
    let attributes = attributes.filter(|(name, _)| !is_schema(name));
    tell(&Element {
        name: pom.name.clone(),
        text: pom.text.clone(),
        attributes: attributes.cloned().collect(),
        children: Vec::new(),
    });
    below(pom, &mut Vec::new(), kept, tell);
}

fn below<'a>(
    element: &'a Element,
    path: &mut Vec<&'a str>,
    kept: &BTreeSet<String>,
    tell: &mut dyn FnMut(&Element),
) {
    path.push(&element.name);
    for child in &element.children {
        if !is_dropped(child, path, kept) {
            tell(child);
            below(child, path, kept, tell);
        }
    }
    path.pop();
    tell(&Element::default());
}

/// Whether what stands at this path has no part.
fn is_dropped(element: &Element, path: &[&str], kept: &BTreeSet<String>) -> bool {
    let name = element.name.as_str();
    // A profile has the same parts as the project.
    let place = match path {
        ["project", "profiles", "profile", rest @ ..] => rest,
        ["project", rest @ ..] => rest,
        _ => return false,
    };
    match place {
        [] if path.len() == 1 || name == "reporting" => {
            has_word(DESCRIPTION, name) && !kept.contains(name)
        }
        ["properties"] => is_of_looking(name) && !kept.contains(name),
        ["build", "plugins"] | ["build", "pluginManagement", "plugins"] => {
            is_no_part(element, kept)
        }
        _ => false,
    }
}

/// The parts of a description that a reference may lead to.
fn described(name: &str) -> Vec<&'static str> {
    let small = name.to_lowercase();
    let words: Vec<&str> = small.split(|sign: char| !sign.is_alphanumeric()).collect();
    let of_project = match words.as_slice() {
        ["project" | "pom", rest @ ..] => rest.iter().find(|word| **word != "parent"),
        _ => None,
    };
    // Maven asks its own objects, which may have more names for the same.
    let is_known = of_project
        .is_none_or(|first| has_word(OTHER, first) || has_word(&DESCRIPTION.to_lowercase(), first));
    let is_named = |part: &&str| words.contains(&part.to_lowercase().as_str());
    let parts = DESCRIPTION.split_whitespace();
    parts.filter(|part| !is_known || is_named(part)).collect()
}

/// What an element's text refers to: `${project.name}`, `${name}`, and whatever looks
/// like the name of a property of those plugins, wherever it stands. Whether it is
/// understood.
fn refer(element: &Element, found: &mut BTreeSet<String>) -> bool {
    let mut is_plain = true;
    let values = element.attributes.iter().map(|(_, value)| value.as_str());
    for text in values.chain([element.text.as_str()]) {
        // Signs that are written by their numbers; names that are put together.
        is_plain &= !text.contains("&#");
        let mut parts = text.split('{').peekable();
        while let (Some(before), Some(part)) = (parts.next(), parts.peek()) {
            let is_reference = before.ends_with(['$', '@']);
            is_plain &= !is_reference || part.contains('}');
            let name = part.split('}').next().unwrap_or_default();
            found.extend(described(name).into_iter().map(str::to_owned));
        }
        let is_sign = |sign: char| sign.is_alphanumeric() || ".-_".contains(sign);
        for token in text.split(|sign| !is_sign(sign)) {
            let token = token.strip_prefix("-D").unwrap_or(token);
            if is_of_looking(token) {
                found.insert(token.to_owned());
            }
        }
    }
    is_plain
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of poms and words.
    fn kept_of_all(texts: &[&str]) -> Option<BTreeSet<String>> {
        let read = texts.iter().map(|text| match text.starts_with('<') {
            true => Element::read(text.as_bytes()).unwrap(),
            false => Element::of_text(text),
        });
        let read: Vec<Element> = read.collect();
        kept(&read.iter().collect::<Vec<_>>())
    }

    fn same(one: &str, other: &str) -> bool {
        let of = |text: &str| {
            let text = format!("<project>{text}</project>");
            let kept = kept_of_all(&[&text]).unwrap();
            meaning(text.as_bytes(), &kept).unwrap()
        };
        of(one) == of(other)
    }

    fn plugin(artifact: &str, more: &str) -> String {
        format!(
            "<build><plugins><plugin><artifactId>{artifact}</artifactId>{more}</plugin></plugins></build>"
        )
    }

    const SET: &str = "<configuration><argLine>-Dx=${PART}</argLine></configuration>";

    fn surefire(part: &str) -> String {
        plugin("maven-surefire-plugin", &SET.replace("PART", part))
    }

    #[test]
    fn who_publishes_reports_makes_them_no_part() {
        let publishes = |artifact: &str, version: usize| {
            let more = "<configuration><content>${project.reporting.outputDirectory}</content></configuration>";
            let reports =
                format!("<reporting><plugins><version>{version}</version></plugins></reporting>");
            plugin(artifact, more) + &reports
        };
        let is_same = |artifact: &str| same(&publishes(artifact, 1), &publishes(artifact, 2));
        assert!(is_same("maven-scm-publish-plugin"));
        assert!(!is_same("maven-surefire-plugin"));
    }

    #[test]
    fn what_people_read_has_no_part() {
        let plain = "<artifactId>a</artifactId>";
        for more in [
            "<!-- x -->",
            "\n  ",
            "<name>x</name><url>y</url>",
            "<developers><developer><id>a</id></developer></developers>",
            "<reporting><plugins><plugin/></plugins></reporting>",
            "<profiles/>",
        ] {
            let is_same = same(plain, &format!("{plain}{more}"));
            assert_eq!(is_same, more != "<profiles/>", "{more}");
        }
        assert!(!same(plain, "<artifactId>b</artifactId>"));
        assert!(!same("<a>x</a><b/>", "<a>x<b/></a>"));
        assert!(!same("<a>xy</a>", "<a>x y</a>") && same("<a>x</a>", "<a> x\n</a>"));
        let append = "<build combine.children='append'/>";
        assert!(!same("<build/>", append));
        let of = |text: &str| meaning(text.as_bytes(), &BTreeSet::new());
        for (one, other) in [
            ("<project a='b'/>", "<project/>"),
            (
                "<project><a>b&amp;c</a></project>",
                "<project><a><![CDATA[b&amp;c]]></a></project>",
            ),
            (
                "<project><a>b</a></project>",
                "<project><a>b\u{a0}</a></project>",
            ),
            (
                "<project><p:a>b</p:a></project>",
                "<project><a>b</a></project>",
            ),
        ] {
            assert_ne!(of(one), of(other), "{one}");
        }
        assert_eq!(of("<project xmlns='x'/>"), of("<project/>"));
        // A dependency's own name is another matter.
        assert!(!same(
            "<dependencies><url>a</url></dependencies>",
            "<dependencies><url>b</url></dependencies>"
        ));
    }

    #[test]
    fn tools_that_look_have_no_part() {
        let tool = |version: &str| {
            plugin(
                "maven-checkstyle-plugin",
                &format!("<version>{version}</version>"),
            )
        };
        assert!(same(&tool("1"), &tool("2")));
        let of_others = |version: &str| {
            let more = format!("<groupId>org.x</groupId><version>{version}</version>");
            plugin("maven-checkstyle-plugin", &more)
        };
        assert!(!same(&of_others("1"), &of_others("2")));
        let extended = |version: &str| {
            plugin(
                "maven-site-plugin",
                &format!("<extensions>true</extensions><version>{version}</version>"),
            )
        };
        assert!(!same(&extended("1"), &extended("2")));
        let packed = |more: &str| plugin("maven-assembly-plugin", more);
        let late = "<executions><execution><phase>package</phase></execution></executions>";
        let early = late.replace("package", "process-classes");
        assert!(same(&packed("<version>1</version>"), &packed(late)));
        assert!(!same(&packed("<version>1</version>"), &packed(&early)));
        assert!(!same(
            &packed(&early),
            &packed(&(early.clone() + "<version>2</version>"))
        ));
        let modules = |more: &str| format!("<modules><module>a</module></modules>{}", packed(more));
        assert!(!same(&modules(""), &modules(late)));
        let writing = |version: &str| {
            let place = "<configuration><to>${project.build.outputDirectory}</to></configuration>";
            plugin(
                "maven-javadoc-plugin",
                &format!("{place}<version>{version}</version>"),
            )
        };
        assert!(!same(&writing("1"), &writing("2")));
        let other = |version: &str| {
            plugin(
                "jacoco-maven-plugin",
                &format!("<version>{version}</version>"),
            )
        };
        assert!(!same(&other("1"), &other("2")));
        let profile =
            |version: &str| format!("<profiles><profile>{}</profile></profiles>", tool(version));
        assert!(same(&profile("1"), &profile("2")));
        let property =
            |name: &str, value: &str| format!("<properties><{name}>{value}</{name}></properties>");
        for (name, has_part) in [
            ("checkstyle.version", false),
            ("commons.japicmp.version", false),
            ("spotbugsVersion", false),
            ("maven.compiler.release", true),
            ("jacoco.skip", true),
            ("rating", true),
        ] {
            assert_eq!(
                same(&property(name, "1"), &property(name, "2")),
                !has_part,
                "{name}"
            );
        }
    }

    #[test]
    fn what_something_refers_to_stays() {
        let with = |part: &str, more: &str| format!("{}{more}", surefire(part));
        for (part, more, other) in [
            ("project.name", "<name>a</name>", "<name>b</name>"),
            (
                "pom.scm.url",
                "<scm><url>a</url></scm>",
                "<scm><url>b</url></scm>",
            ),
            ("name", "<name>a</name>", "<name>b</name>"),
            ("project.Name", "<name>a</name>", "<name>b</name>"),
            ("project.parent.name", "<name>a</name>", "<name>b</name>"),
            (
                "project.reporting.x",
                "<reporting>a</reporting>",
                "<reporting>b</reporting>",
            ),
            // Another name for the same.
            ("project.siteRepository.x", "<scm>a</scm>", "<scm>b</scm>"),
            (
                "project.developers[0].id",
                "<developers>a</developers>",
                "<developers>b</developers>",
            ),
            (
                "pmd.version",
                "<properties><pmd.version>1</pmd.version></properties>",
                "<properties><pmd.version>2</pmd.version></properties>",
            ),
            // By way of another property.
            (
                "own",
                "<properties><own>${pmd.x}</own><pmd.x>${project.url}</pmd.x></properties><url>a</url>",
                "<properties><own>${pmd.x}</own><pmd.x>${project.url}</pmd.x></properties><url>b</url>",
            ),
        ] {
            assert!(!same(&with(part, more), &with(part, other)), "{part}");
        }
        let other = "project.build.directory";
        assert!(same(
            &with(other, "<name>a</name>"),
            &with(other, "<name>b</name>")
        ));
        // Only from there: the reference itself is dropped.
        let looks = |value: &str| {
            let set = plugin("maven-pmd-plugin", "<version>${pmd.version}</version>");
            format!("{set}<properties><pmd.version>{value}</pmd.version></properties>")
        };
        assert!(same(&looks("1"), &looks("2")));
    }

    #[test]
    fn a_parent_can_refer_to_it() {
        let parent = format!("<project>{}</project>", surefire("project.name"));
        let words = [
            "<project/>",
            &parent,
            "-DargLine=-Dy=${pmd.version}",
            "test",
        ];
        let kept = kept_of_all(&words).unwrap();
        assert!(kept.iter().eq(["name", "pmd.version"]));
        let of = |name: &str| {
            meaning(
                format!("<project><name>{name}</name></project>").as_bytes(),
                &kept,
            )
        };
        assert_ne!(of("a"), of("b"));
    }

    #[test]
    fn what_is_not_understood_has_no_meaning() {
        let none = BTreeSet::new();
        for text in [
            "",
            "<project>",
            "<settings/>",
            "<project><a xml:space='preserve'> </a></project>",
            "<project><a>&#36;{project.name}</a></project>",
            "<project><a>${${tool}.version}</a></project>",
        ] {
            assert_eq!(meaning(text.as_bytes(), &none), None, "{text}");
        }
        assert_eq!(meaning(b"<project><a>\xe9</a></project>", &none), None);
        let nested = "<project><a>${${tool}.version}</a></project>";
        assert_eq!(kept_of_all(&[nested]), None);
        let task = |task: &str| {
            let tasks = format!("<configuration><target>{task}</target></configuration>");
            format!(
                "<project>{}</project>",
                plugin("maven-antrun-plugin", &tasks)
            )
        };
        for plain in [
            "<echo message='x'/>",
            "<fileset><include name='x'/></fileset>",
        ] {
            assert!(kept_of_all(&[&task(plain)]).is_some());
        }
        for script in ["<script/>", "<property file='x'/>", "<include file='x'/>"] {
            assert_eq!(kept_of_all(&[&task(script)]), None);
        }
        let latin = "<?xml version='1.0' encoding='ISO-8859-1'?><project/>";
        assert_eq!(meaning(latin.as_bytes(), &none), None);
    }
}
