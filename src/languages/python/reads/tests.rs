use super::*;
use crate::languages::python::analyse_python;

/// What a unit of `a.py` reads, where these are the modules.
fn read(sources: &[(&str, &str)], what: What) -> UnitReads {
    let source = |path: &BStr| {
        let found = sources.iter().find(|(known, _)| path == *known);
        Ok(found.map(|(_, text)| Rc::new(analyse_python(text.as_bytes()))))
    };
    let needed = sources.iter().map(|(path, _)| {
        let name = path.trim_end_matches(".py").replace('/', ".");
        (BString::from(*path), vec![name.replace(".__init__", "")])
    });
    let mut reading = Reading::new(&source, "/p".into(), &needed.collect()).unwrap();
    reading.unit(&Unit::at("a.py", what)).unwrap().unwrap()
}

/// The same of the function `f` in `a.py` alone.
fn reads(text: &str) -> UnitReads {
    read(&[("a.py", text)], What::Code("f".into()))
}

fn has(reads: &UnitReads, name: &str) -> bool {
    asks(reads, name) || reads.loads.binary_search(&name_hash(name)).is_ok()
}

fn asks(reads: &UnitReads, name: &str) -> bool {
    reads.names.binary_search(&name_hash(name)).is_ok()
}

#[test]
fn code_reads_what_it_spells() {
    let found = reads(
        "import b\n\
         TABLE = {}\n\
         def f(x):\n    \
             from c import late\n    \
             local = TABLE[x.attribute]\n    \
             return b.member, elsewhere, getattr(x, 'named'), local\n",
    );
    for name in [
        "TABLE",
        "attribute",
        "late",
        "member",
        "elsewhere",
        "named",
        "b",
    ] {
        assert!(has(&found, name), "{name}");
    }
    assert!(!has(&found, "local"));
    assert!(!found.anything && !found.members && !found.annotations && !found.docstrings);
    assert_eq!(found.holds, Vec::<BString>::new());
}

#[test]
fn a_global_name_is_that_of_the_module() {
    let found = reads("import b\ndef f(x): return TABLE, b.member, x.attribute\n");
    assert!(!asks(&found, "TABLE") && has(&found, "TABLE"));
    assert!(!asks(&found, "b") && has(&found, "b"));
    assert!(asks(&found, "member") && asks(&found, "attribute"));
    assert!(!asks(&found, "f") && has(&found, "f"));
    assert_eq!(found.file, "a.py");
}

#[test]
fn who_asks_a_module_for_what_it_lacks_asks_its_function_for_that() {
    let text = "import b\ndef f(): return b.there\ndef g(): return getattr(b, 'lacks', 1)\n\
                def h():\n    from b import lacks\n    return lacks\n\
                def i(x): return x.misses\n";
    let sources = [("a.py", text), ("b.py", "there = 1\n")];
    let asks = |name: &str| asks(&read(&sources, What::Code(name.into())), "b.py:__getattr__");
    assert!(!asks("f") && !asks("i"));
    assert!(asks("g") && asks("h"));
}

#[test]
fn a_module_may_have_had_a_name_of_its_own_for_a_builtin() {
    let found = reads("def f(items): return len(items)\n");
    assert!(has(&found, "len"));
    assert!(!has(&found, "items") && !has(&found, "print"));
}

#[test]
fn code_that_runs_reads_itself_and_its_class() {
    let text = "class C:\n    def m(self): pass\n";
    let found = read(&[("a.py", text)], What::Code("C.m".into()));
    assert!(has(&found, "C") && has(&found, "m"));
    let found = read(
        &[("a.py", "key = lambda x: x.size\n")],
        What::Binding("key".into()),
    );
    assert!(has(&found, "key") && has(&found, "size"));
}

#[test]
fn what_code_does_with_names_that_it_does_not_spell_is_told_apart() {
    assert!(reads("def f(x): return map(eval, x)\n").anything);
    let found = reads("def f(x): return map(getattr, x)\n");
    assert!(found.members && !found.anything);
    // The collector tells these.
    assert!(!reads("def f(x, y): return getattr(x, y)\n").members);
    let found = reads("def f(x): return vars(x)\n");
    assert!(found.lists_members && !found.members && !found.anything);
    let found = reads("def f(x): return x.__annotations__\n");
    assert!(found.annotations && !found.docstrings);
    let found = reads("def f(x): return x.signature()\n");
    assert!(!found.annotations && !found.anything);
    let found = reads("def f(x): return x.__doc__\n");
    assert!(found.docstrings && !found.annotations);
    let found = reads("def f(): return globals()\n");
    assert_eq!(found.globals, ["a.py"]);
    assert!(found.holds.is_empty());
}

#[test]
fn of_code_that_is_not_understood_it_may_be_anything() {
    assert!(reads("def f(: pass\n").anything);
    assert!(reads("def g(): pass\n").anything, "there is no `f`");
}

#[test]
fn a_module_that_is_passed_on_is_held_with_all_that_it_gives_and_a_class_is_not() {
    let text = "import p.q\nfrom p import r, C\ndef f(x): return x(r), C()\n\
                def g(x): return x(p.q)\n";
    let others = [
        ("p/__init__.py", "class C: pass\n"),
        ("p/q.py", ""),
        ("p/r.py", "from s import t\nimport json\n"),
        ("s/__init__.py", ""),
        ("s/t.py", "import u\n"),
        ("u.py", ""),
        ("v.py", ""),
    ];
    let sources = [&[("a.py", text)], &others[..]].concat();
    let holds = |name: &str| read(&sources, What::Code(name.into())).holds;
    assert_eq!(holds("f"), ["p/r.py", "s/t.py", "u.py"]);
    assert_eq!(holds("g"), ["p/q.py"]);
}

#[test]
fn a_module_is_held_by_who_asks_it_for_what_each_module_has_of_its_own() {
    for (name, is_held) in [
        ("__version__", false),
        ("__version_info__", false),
        ("__dict__", true),
        ("__getattribute__", true),
    ] {
        let text = format!("import b\ndef f(): return b.{name}\n");
        let found = read(&[("a.py", &text), ("b.py", "")], What::Code("f".into()));
        assert!(asks(&found, name));
        assert_eq!(!found.holds.is_empty(), is_held, "{name}");
    }
}

#[test]
fn a_module_that_pytests_fixture_patches_is_held_only_if_that_may_be_another_fixture() {
    let text = "import b\ndef f(monkeypatch): monkeypatch.setattr(b, 'x', 1)\n";
    let plain = [("a.py", text), ("b.py", "x = 0\n")];
    let found = read(&plain, What::Code("f".into()));
    assert!(has(&found, "x"));
    assert_eq!(found.holds, Vec::<BString>::new());
    let other = ("conftest.py", "def monkeypatch(): pass\n");
    let sources = [&plain[..], &[other]].concat();
    assert_eq!(read(&sources, What::Code("f".into())).holds, ["b.py"]);
}

#[test]
fn whoever_holds_a_module_reads_anything_if_one_is_not_understood() {
    let text = "import b\ndef f(x): return x(b)\ndef g(): return 1\n";
    let sources = [("a.py", text), ("b.py", "def (\n")];
    assert!(read(&sources, What::Code("f".into())).anything);
    assert!(!read(&sources, What::Code("g".into())).anything);
}

#[test]
fn a_whole_skeleton_reads_what_each_of_its_statements_does() {
    let text = "x = lambda y: y.one\nprint(two)\n@three\ndef g(): return four\n";
    let found = read(&[("a.py", text)], What::Skeleton);
    for name in ["one", "two", "three"] {
        assert!(has(&found, name), "{name}");
    }
    assert!(!has(&found, "four"));
    let found = read(&[("a.py", text)], What::Effects);
    assert!(has(&found, "two") && !has(&found, "one"));
}

#[test]
fn a_star_import_has_all_names_of_a_module_and_passes_on_none() {
    let sources = [("a.py", "from b import *\nx = 1\n"), ("b.py", "y = 1\n")];
    for what in [What::Effects, What::Skeleton] {
        let found = read(&sources, what);
        assert_eq!(found.globals, ["b.py"]);
        assert!(found.holds.is_empty());
    }
    assert!(read(&sources, What::Binding("x".into())).globals.is_empty());
}
