use std::collections::{BTreeMap, BTreeSet};

use super::*;

fn parse(text: &str) -> RustSource {
    let source = RustSource::parse(text.as_bytes());
    assert_eq!(source.whole, None);
    source
}

/// What is different between two sources: functions by name, `outside`, `tests`.
fn changed(then: &str, now: &str) -> Vec<String> {
    let (then, now) = (State::of(then), State::of(now));
    let mut names: BTreeSet<&String> = then.values.keys().collect();
    names.extend(now.values.keys());
    let is_other = |name: &&&String| then.values.get(**name) != now.values.get(**name);
    let other = names.iter().filter(is_other);
    other.map(|name| (*name).clone()).collect()
}

/// What each part of a project of one source comes to.
struct State {
    values: BTreeMap<String, Fingerprint>,
}

impl State {
    fn of(text: &str) -> State {
        let source = Arc::new(parse(text));
        let declared = Declared::of(std::slice::from_ref(&source));
        let functions = source.functions.iter().map(|one| {
            let value = declared.meaning(&one.body, one.owner.as_deref());
            (one.name.clone(), value)
        });
        let mut values: BTreeMap<String, Fingerprint> = functions.collect();
        for (name, rest) in [("outside", &source.outside), ("tests", &source.of_tests)] {
            values.insert(name.to_owned(), declared.of_file(&source, rest));
        }
        State { values }
    }
}

const BASE: &str = "
    /// Adds.
    pub fn add(a: u32, b: u32) -> u32 { a + b }
    pub struct Sq(pub u32);
    impl Sq {
        pub fn new() -> Sq { Sq(1) }
        pub fn area(&self) -> u32 { self.0 * self.0 }
    }
    pub trait Shape { fn name(&self) -> &str { \"shape\" } fn size(&self) -> u32; }
    impl Shape for Sq { fn size(&self) -> u32 { self.area() } }
    fn uses() -> u32 { add(1, 2) + Sq::new().area() }
    const fn early() -> u32 { 1 }
    #[cfg(test)]
    mod tests { use super::*; #[test] fn works() { assert_eq!(add(1, 1), 2); } }
";

fn edit(from: &str, to: &str) -> Vec<String> {
    assert_eq!(BASE.matches(from).count(), 1, "{from}");
    changed(BASE, &BASE.replace(from, to))
}

#[test]
fn bodies_count_for_themselves() {
    assert_eq!(edit("a + b", "b + a"), ["add"]);
    assert_eq!(edit("self.0 * self.0", "self.0"), ["Sq::area"]);
    assert_eq!(edit("\"shape\"", "\"\""), ["Shape::name"]);
    assert_eq!(edit("self.area()", "1"), ["<Sq as Shape>::size"]);
    assert_eq!(edit("add(1, 1), 2", "2, add(1, 1)"), ["tests::works"]);
    assert_eq!(
        edit("/// Adds.", "/// Sums.\n// Here."),
        Vec::<String>::new()
    );
}

#[test]
fn signatures_count_for_who_may_name_them() {
    let adding = ["add", "tests::works", "uses"];
    assert_eq!(edit("add(a: u32, b: u32)", "add(b: u32, a: u32)"), adding);
    let area = ["<Sq as Shape>::size", "Sq::area", "uses"];
    assert_eq!(edit("area(&self)", "area(self: &Sq)"), area);
    assert_eq!(edit("new() -> Sq", "new() -> Self"), ["Sq::new", "uses"]);
}

/// What else is different with more in the source.
fn with(more: &str) -> Vec<String> {
    let now = format!("{BASE}{more}");
    let then = State::of(BASE).values;
    let mut other = changed(BASE, &now);
    other.retain(|name| then.contains_key(name));
    other
}

#[test]
fn a_new_name_counts_for_who_may_have_meant_it() {
    assert!(with("fn more() {}").is_empty());
    assert!(with("impl Other { fn new() {} fn more(&self) {} } struct Other;").is_empty());
    assert!(with("struct More(u32); const LESS: u32 = 1; use std::io::Cursor;").is_empty());
    // A method of another type; but types are not known here.
    assert_eq!(
        with("struct Other; impl Other { fn area(&self) {} }"),
        ["<Sq as Shape>::size", "uses"]
    );
    let of_sq = ["<Sq as Shape>::size", "Sq::area", "Sq::new", "uses"];
    assert_eq!(with("impl Sq { fn more(&self) {} }"), of_sq);
    assert_eq!(
        with("impl Clone for Sq { fn clone(&self) -> Sq { Sq(1) } }"),
        of_sq
    );
    assert_eq!(with("enum Other { Sq, B }"), of_sq);
    for more in [
        "mod more;",
        "impl Shape for u32 { fn size(&self) -> u32 { 1 } }",
        "impl<T: Shape> Clone for T {}",
        "use std::io::Write;",
        "use other::Thing;",
        "use crate::Shape;",
        "use std::fmt::*;",
        "make! { struct A; }",
        "trait More {}",
    ] {
        assert!(with(more).contains(&"outside".to_owned()), "{more}");
    }
    assert!(with("use crate::Sq;").is_empty() || with("use crate::Sq;") == of_sq);
    assert_eq!(
        edit("use super::*;", "use super::*; use other::Thing;"),
        ["tests"]
    );
}

#[test]
fn types_and_constants_count_for_who_can_come_to_them() {
    let text = "
        pub struct A(pub B);
        pub struct B { pub n: u32 }
        pub enum Color { Red = LIMIT as isize, Green }
        use Color::*;
        const LIMIT: u32 = base(2);
        const fn base(n: u32) -> u32 { n + 1 }
        pub fn make() -> A { A(B { n: 1 }) }
        pub fn takes() -> u32 { make().0.n }
        pub fn paints() -> isize { Red as isize }
        pub fn limits() -> u32 { LIMIT }
        pub fn runs() -> u32 { base(3) }
        pub fn later() -> impl Fn() -> u32 { || 1 }
        pub fn waits() -> u32 { later()() }
        pub fn other() {}
    ";
    let edit = |from: &str, to: &str| {
        assert_eq!(text.matches(from).count(), 1, "{from}");
        changed(text, &text.replace(from, to))
    };
    assert_eq!(edit("pub n: u32", "pub n: u64"), ["make", "takes"]);
    let of_base = ["base", "limits", "paints", "runs"];
    assert_eq!(edit("n + 1", "n + 2"), of_base);
    assert_eq!(edit("base(2)", "base(4)"), ["limits", "paints"]);
    assert_eq!(edit("Green", "Blue, Green"), ["paints"]);
    assert_eq!(edit("|| 1", "|| 2"), ["later", "waits"]);
}

#[test]
fn everything_else_is_outside_of_functions() {
    for (from, to) in [
        ("fn size(&self) -> u32;", "fn size(&self) -> u32 { 1 }"),
        ("pub trait Shape {", "#[other] pub trait Shape {"),
        ("mod tests {", "mod more; mod tests {"),
    ] {
        let changed = edit(from, to);
        let is_there = |name: &str| changed.contains(&name.to_owned());
        assert!(
            is_there("outside") || is_there("tests"),
            "{from}: {changed:?}"
        );
    }
    // What is implemented for a type of the project is about that.
    let changed = edit(
        "impl Shape for Sq { fn",
        "impl Shape for Sq { fn name(&self) -> &str { \"\" } fn",
    );
    assert!(changed.contains(&"uses".to_owned()), "{changed:?}");
    assert!(!changed.contains(&"add".to_owned()), "{changed:?}");
}

#[test]
fn what_counts_beyond_its_function_is_no_part_of_it() {
    let is_apart = |text: &str| !parse(text).functions.is_empty();
    assert!(is_apart("fn f() { 1; }"));
    assert!(is_apart("#[test] #[should_panic] fn f() {}"));
    assert!(is_apart("#[tokio::test] async fn f() {}"));
    assert!(is_apart("#[cfg_attr(docsrs, doc(cfg(x)))] const fn f() {}"));
    assert!(is_apart("fn f() { struct A; const B: u32 = 1; fn g() {} }"));
    for text in [
        "#[no_mangle] extern \"C\" fn f() {}",
        "#[route(GET)] fn f() {}",
        "#[cfg_attr(a, route(GET))] fn f() {}",
        "fn f() { impl A for B {} }",
        "fn f() { make! { impl A for B {} } }",
        "fn f() { #[macro_export] macro_rules! m { () => {} } }",
        "fn f() { #[used] static A: u32 = 1; }",
        "#[async_trait] impl A for B { fn f() {} }",
    ] {
        assert!(!is_apart(text), "{text}");
    }
}

#[test]
fn documentation_counts_where_a_macro_can_read_it() {
    let same = |then: &str, now: &str| changed(then, now).is_empty();
    let used = "fn f() -> A { A }";
    let same_type = |then: &str, now: &str| same(&format!("{then}{used}"), &format!("{now}{used}"));
    assert!(same_type("/// a\nstruct A;", "/// b\nstruct A;"));
    let derived = ["a", "b"].map(|doc| format!("/// {doc}\n#[derive(Parser)] struct A;"));
    assert!(!same_type(&derived[0], &derived[1]));
    assert!(!same("m! { /// a\nx }", "m! { /// b\nx }"));
    assert!(same("//! a\nfn f() {}", "//! b\nfn f() {}"));
}

#[test]
fn what_is_not_understood_is_one_piece() {
    let source = RustSource::parse(b"fn f( {");
    assert!(source.whole.is_some() && source.functions.is_empty());
    assert_ne!(source.outside, RustSource::parse(b"fn g( {").outside);
    assert!(RustSource::parse(b"\xff").whole.is_some());
}

#[test]
fn names_that_tokens_do_not_show_count() {
    let writes = "struct W; fn f(w: W) { write!(w, \"\"); } fn g() {}";
    let with = |more: &str| {
        let mut other = changed(writes, &format!("{writes}{more}"));
        other.retain(|name| name == "f" || name == "g");
        other
    };
    assert_eq!(with("struct V; impl V { fn write_fmt(&self) {} }"), ["f"]);
    let shown = "const A: u32 = 1; fn f() { println!(\"{A:?}\"); } fn g() {}";
    assert_eq!(changed(shown, &shown.replace("= 1", "= 2")), ["f"]);
    let aliased = "struct X; type A = X; fn f() { X::helper() } fn g() {}";
    let more = format!("{aliased} impl A {{ fn helper() {{}} }}");
    assert!(changed(aliased, &more).contains(&"f".to_owned()));
    let raw = "fn f() { bar() } fn g() {}";
    assert!(changed(raw, &format!("{raw} fn r#bar() {{}}")).contains(&"f".to_owned()));
    let own = "macro_rules! vec { ($t:ty, $m:ident) => { <$t>::$m() } } struct X; fn f() { vec!(X, check) }";
    let more = format!("{own} struct Y; impl Y {{ fn check() {{}} }}");
    assert!(changed(own, &more).contains(&"f".to_owned()));
}

#[test]
fn what_is_included_is_told() {
    let source = parse("const A: &str = include_str!(\"a.rs\"); fn f() { m!(include_bytes!($x)) }");
    let included: BTreeSet<&str> = source.included.iter().map(String::as_str).collect();
    assert_eq!(included, ["$ x", "\"a.rs\""].into());
}
