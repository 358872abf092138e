//! Ways of rows that are written down here: the sources, and what ran.

use super::*;
use crate::languages::Known;
use crate::languages::python::analyse_python_knowing;

const TEST: &str = "tests/test_a.py";

/// A row of `TEST::test`: the imports of all files, the code that ran (as
/// `path#name`), every binding that there is, and the skeletons in `whole`.
fn told(files: &[(&str, &str)], ran: &[&str], whole: &[&str], asked: &[Unit]) -> Vec<String> {
    let known = Known {
        classes: ["Kind".to_owned()].into(),
    };
    let sources: FxHashMap<BString, Rc<Analysis>> = files
        .iter()
        .map(|(path, text)| {
            (
                (*path).into(),
                Rc::new(analyse_python_knowing(text.as_bytes(), &known)),
            )
        })
        .collect();
    let mut units = asked.to_vec();
    for (path, analysis) in &sources {
        units.push(Unit::at(path.clone(), What::Effects));
        let Analysis::Parsed(module) = &**analysis else {
            panic!("{path} does not parse");
        };
        let names = module.names.bindings.keys();
        units.extend(names.map(|name| Unit::named(UnitKind::Binding, path.clone(), name)));
    }
    units.extend(ran.iter().map(|ran| {
        let (path, name) = ran.split_once('#').unwrap();
        Unit::at(path, What::Code(name.into()))
    }));
    units.extend(whole.iter().map(|path| Unit::at(*path, What::Skeleton)));
    units.sort();
    units.dedup();
    let source = |path: &BStr| sources.get(path).cloned();
    let wide_words = |unit: &Unit| vec![format!("words of {}", unit.name())];
    let ways = Ways::of(RowOf {
        units,
        root: "/top".into(),
        file: TEST.into(),
        shown_file: TEST.to_owned(),
        function: "test".to_owned(),
        source: &source,
        wide_words: &wide_words,
    });
    asked.iter().map(|unit| say(&ways, unit)).collect()
}

/// `Test: a → b (whole: Value)`.
fn say(ways: &Ways<'_>, unit: &Unit) -> String {
    let way = ways.to(unit);
    let steps: Vec<String> = way
        .steps
        .iter()
        .map(|step| match &step.whole {
            Some(whole) => format!("{} (whole: {whole:?})", step.name),
            None => step.name.clone(),
        })
        .collect();
    let whole = way.whole.map(|whole| format!(" | {whole:?}"));
    format!(
        "{:?}: {}{}",
        way.origin,
        steps.join(" → "),
        whole.unwrap_or_default()
    )
}

fn binding(path: &str, name: &str) -> Unit {
    Unit::named(UnitKind::Binding, path, name)
}

fn skeleton(path: &str) -> Unit {
    Unit::at(path, What::Skeleton)
}

const PACKAGE: [(&str, &str); 4] = [
    ("src/pkg/__init__.py", "from .core import make as make\n"),
    (
        "src/pkg/core.py",
        "from .base import Kind\nLEVEL = 1\nclass Thing(Kind):\n    def m(self):\n        return LEVEL\ndef make():\n    return Thing().m()\n",
    ),
    ("src/pkg/base.py", "class Kind:\n    pass\nlonely = 1\n"),
    (
        TEST,
        "import pkg\nimport pkg.core\nimport pytest\ndef test():\n    return pkg.make()\n@pytest.fixture\ndef thing():\n    return pkg.core.LEVEL\n",
    ),
];

#[test]
fn shortest_chains_from_the_test() {
    let ran = [
        "tests/test_a.py#test",
        "src/pkg/core.py#make",
        "src/pkg/core.py#Thing.m",
    ];
    let asked = [
        binding("src/pkg/core.py", "make"),
        binding("src/pkg/core.py", "Thing"),
        binding("src/pkg/base.py", "Kind"),
        binding("src/pkg/core.py", "LEVEL"),
        binding("src/pkg/base.py", "lonely"),
        Unit::at(TEST, What::Code("test".into())),
        Unit::at("src/pkg/core.py", What::Code("Thing.m".into())),
    ];
    let test = "tests/test_a.py::test";
    assert_eq!(
        told(&PACKAGE, &ran, &[], &asked),
        [
            format!("Test: {test}"),
            format!("Test: {test} → pkg.core#make"),
            format!("Test: {test} → pkg.core#make → pkg.core#Thing → pkg.core#Kind"),
            format!("Test: {test} → pkg.core#make → pkg.core#Thing.m"),
            "Seen: ".to_owned(),
            "Test: ".to_owned(),
            format!("Test: {test} → pkg.core#make"),
        ]
    );
}

#[test]
fn chains_from_other_code_that_ran() {
    let ran = ["tests/test_a.py#thing"];
    let asked = [
        binding("src/pkg/core.py", "LEVEL"),
        Unit::at(TEST, What::Code("thing".into())),
    ];
    assert_eq!(
        told(&PACKAGE, &ran, &[], &asked),
        ["Ran: tests/test_a.py::thing", "Ran: "]
    );
}

#[test]
fn imports_lead_to_effects() {
    let effects = |path: &str| Unit::at(path, What::Effects);
    let files = [
        &PACKAGE[..],
        &[
            ("src/pkg/late.py", "x()\n"),
            ("src/other/base.py", "y()\n"),
            ("tests/conftest.py", "import helper\n"),
            ("tests/helper.py", "z()\n"),
        ],
    ]
    .concat();
    let asked = [
        effects(TEST),
        effects("src/pkg/__init__.py"),
        effects("src/pkg/base.py"),
        // Imported by nobody who says so, though one of the same name is.
        effects("src/pkg/late.py"),
        effects("src/other/base.py"),
        effects("tests/conftest.py"),
        effects("tests/helper.py"),
    ];
    assert_eq!(
        told(&files, &["tests/test_a.py#test"], &[], &asked),
        [
            "Test: ",
            "Test: tests/test_a.py",
            "Test: tests/test_a.py → pkg.core",
            "Seen: ",
            "Seen: ",
            "Runner: ",
            "Runner: tests/conftest.py",
        ]
    );
}

#[test]
fn why_a_module_is_whole() {
    let files = [
        (
            "a.py",
            "import b\ndef f():\n    return g(b)\ndef own():\n    return globals()\n",
        ),
        ("b.py", "import c\nN = 1\n"),
        ("c.py", "M = 1\n"),
        ("d.py", "from c import *\n"),
        (TEST, "import a\ndef test():\n    a.f()\n"),
    ];
    let test = "tests/test_a.py::test";
    let value = told(
        &files[..],
        &["tests/test_a.py#test", "a.py#f"],
        &["b.py", "c.py"],
        &[skeleton("b.py"), skeleton("c.py"), binding("b.py", "c")],
    );
    assert_eq!(
        value[..2],
        [
            format!("Test: {test} → a.py#f | Value"),
            format!("Test: {test} → a.py#f → b.py (whole: Value) | Given(\"b.py\")"),
        ]
    );
    assert_eq!(
        value[2],
        format!("Test: {test} → a.py#f → b.py (whole: Value)")
    );

    let of = |ran: &[&str], path: &str| told(&files, ran, &[path], &[skeleton(path)]).remove(0);
    assert_eq!(of(&["a.py#own"], "a.py"), "Ran: a.py#own | OwnNames");
    assert_eq!(of(&[], "c.py"), "Imported: d.py | Star");
    assert_eq!(of(&["tests/test_a.py#test"], "d.py"), "Seen:  | Seen");
}

#[test]
fn code_that_reaches_any_name() {
    let files = [
        ("a.py", "def f():\n    return map(eval, 'x')\n"),
        ("b.py", "N = 1\n"),
        (TEST, "import a\ndef test():\n    a.f()\n"),
    ];
    let ran = ["tests/test_a.py#test", "a.py#f"];
    assert_eq!(
        told(&files, &ran, &["b.py"], &[skeleton("b.py")]),
        ["Test: tests/test_a.py::test → a.py#f | Wide([\"words of f\"])"]
    );
}

#[test]
fn sources_that_are_not_at_hand() {
    let lost = [
        binding("gone.py", "x"),
        Unit::of(What::Env("HOME".into())),
        // Of another language, which tells no ways.
        Unit::at("add.go", What::Code("Add".into())),
        binding("add.js", "*.js"),
    ];
    assert_eq!(
        told(&PACKAGE, &["tests/test_a.py#test"], &[], &lost),
        ["Lost: ", "Seen: ", "Ran: ", "Seen: "]
    );
}

#[test]
fn code_that_reads_all_methods() {
    let files = [
        (
            "a.py",
            "class C:\n    def m(self, x=1):\n        pass\ndef look(o, n):\n    return vars(type(o))[n]\ndef read(o):\n    return o.__doc__\n",
        ),
        (
            TEST,
            "import a\ndef test():\n    a.read(a.look(a.C(), 'M'.lower()))\n",
        ),
    ];
    let ran = ["tests/test_a.py#test", "a.py#look", "a.py#read"];
    assert_eq!(
        told(&files, &ran, &[], &[binding("a.py", "C.m")]),
        ["Test: tests/test_a.py::test → a.py#look | Methods"]
    );
}

/// Their definitions are part of the effects, and so lead nowhere by name.
#[test]
fn code_that_effects_define() {
    let files = [
        ("pkg/__init__.py", "from .a import first as first\n"),
        (
            "pkg/a.py",
            "@register\ndef first():\n    return second()\n@register\ndef second():\n    return C().m()\n@register\nclass C:\n    def __init__(self):\n        pass\n    def m(self):\n        return N\nN = 1\n",
        ),
        (TEST, "import pkg\ndef test():\n    pkg.first()\n"),
    ];
    let code = |name: &str| Unit::at("pkg/a.py", What::Code(name.into()));
    let ran = [
        "tests/test_a.py#test",
        "pkg/a.py#first",
        "pkg/a.py#second",
        "pkg/a.py#C.m",
        "pkg/a.py#C.__init__",
    ];
    let asked = [
        code("first"),
        code("C.m"),
        code("C.__init__"),
        binding("pkg/a.py", "N"),
    ];
    let second = "Test: tests/test_a.py::test → pkg.a#first → pkg.a#second";
    assert_eq!(
        told(&files, &ran, &[], &asked),
        [
            "Test: tests/test_a.py::test".to_owned(),
            second.to_owned(),
            second.to_owned(),
            format!("{second} → pkg.a#C.m"),
        ]
    );
}
