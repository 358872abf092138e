use super::*;

/// The serial numbers of sources, as `path class.name`.
fn of(sources: &[(&str, &str)]) -> Vec<String> {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in sources {
        let path = root.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        disk::write(&path, text).unwrap();
    }
    let found = serials(root.path()).into_iter();
    let shown = found.map(|one| format!("{} {}.{}", one.path, one.class, one.name));
    shown.collect()
}

const FIELD: &str = "\
class Field:
    turn = 0  # turn by turn

    def __init__(self, name):
        self.name = name
        self.turn = Field.turn
        Field.turn += 1
";

const SORT: &str = "fields.sort(key=lambda one: one[1].turn)\n";

/// The same with another file.
fn with(text: &str) -> Vec<String> {
    of(&[("pkg/fields.py", FIELD), ("pkg/other.py", text)])
}

#[test]
fn a_class_counts_its_objects() {
    let found = ["pkg/fields.py Field.turn"];
    assert_eq!(with(""), found);
    assert_eq!(with(SORT), found);
    assert_eq!(
        with("x = sorted(y, key=lambda one: (one.turn, one.name))\n"),
        found
    );
    assert_eq!(with("turns = {}  # turn\n"), found);
}

#[test]
fn whoever_may_read_the_number_leaves_it_a_number() {
    for text in [
        "print(field.turn)\n",
        "print(Field.turn)\n",
        "Field.turn = 5\n",
        "Field.turn -= 1\n",
        "getattr(field, 'turn')\n",
        "\"{0.turn}\".format(field)\n",
        "f(turn=1)\n",
        "turn = 1\n",
        "class Other:\n    turn = 0\n",
        "class Other(Field):\n    @property\n    def turn(self): return 1\n",
        "x = max(y, key=lambda one: one.turn)\n",
        "x = sorted(y, key=lambda one: one.turn % 2)\n",
        "x = sorted(y, key=lambda one, by=1: one.turn)\n",
        "x = sorted(y, key=lambda one: other.turn)\n",
        "x = sorted(y, key=lambda one: len(str(one.turn)))\n",
        "def sorted(x, key): pass\nx = sorted(y, key=lambda one: one.turn)\n",
        "from z import *\nx = sorted(y, key=lambda one: one.turn)\n",
        "x.sort(lambda one: one.turn)\n",
        "class Other:\n    def __setattr__(self, name, value): print(value)\n",
        "class Other:\n    def __getattribute__(self, name): print(value)\n",
        "Field.turn += 1\n",
        "from importlib import reload\nreload(x)\n",
        "import gc\nfound = gc.get_objects()\n",
        "x = (\n",
    ] {
        let text = match text {
            "x = (\n" => "turn = (\n",
            text => text,
        };
        assert_eq!(with(text), [""; 0], "{text}");
    }
    let all = "class Any:\n    def __getattr__(self, name): return 7\n";
    assert_eq!(with(all).len(), 1);
    assert_eq!(with(&format!("{SORT}{all}")), [""; 0]);
    assert_eq!(
        with(&format!("{SORT}def __getattr__(name): return 7\n")).len(),
        1
    );
    assert_eq!(
        with(&format!("{SORT}class L:\n    def sort(self, key): pass\n")),
        [""; 0]
    );
    let compiled = [("fields.py", FIELD), ("fast.pyx", "print(x.turn)\n")];
    assert_eq!(of(&compiled), [""; 0]);
}

#[test]
fn the_class_is_the_one_that_has_the_number() {
    for (old, new) in [
        ("class Field:", "class Field:\n    turn = 1\n"),
        ("class Field:", "Field = 1\nclass Field:"),
        (
            "class Field:",
            "if x:\n  class Field:\n    turn = 1\nclass Field:",
        ),
        ("turn = 0 ", "turn = start() "),
        ("turn = 0 ", "turn: int = 0 "),
        ("Field.turn += 1", "Field.turn += step"),
        ("Field.turn += 1", "self.turn += 1"),
        ("Field.turn += 1", "Other.turn += 1"),
        ("Field.turn += 1", "type(self).turn += 1"),
        ("Field.turn += 1", "Field.turn += 0"),
        ("(self, name)", "(self, Field)"),
        ("self.name = name", "self = name"),
        ("self.name = name", "Field = name"),
        ("    def __init__", "    @wraps\n    def __init__"),
        ("self.turn =", "other.turn ="),
        (
            "        self.turn = Field.turn\n        Field.turn += 1",
            "        Field.turn += 1\n        self.turn = Field.turn",
        ),
        (
            "        Field.turn += 1",
            "        if name:\n            Field.turn += 1",
        ),
        (
            "        Field.turn += 1",
            "        Field.turn += 1\n        Field.turn += 1",
        ),
        (
            "        Field.turn += 1",
            "        print()\n        Field.turn += 1",
        ),
    ] {
        assert!(FIELD.contains(old), "{old}");
        let text = FIELD.replacen(old, new, 1);
        assert_eq!(of(&[("fields.py", &text)]), [""; 0], "{text}");
    }
}

#[test]
fn folders_of_tools_and_of_installed_packages_do_not_count() {
    let reads = "print(field.turn)\n";
    let count = |path| of(&[("fields.py", FIELD), (path, reads)]).len();
    assert_eq!(count("x.py"), 0);
    assert_eq!(count("lib/site-packages/x.py"), 1);
    assert_eq!(count(".tamis/x.py"), 1);
    assert_eq!(count(".hidden/x.py"), 0);
}
