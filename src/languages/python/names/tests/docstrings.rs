//! Docstrings: which of them stand apart, and what reads them.

use super::annotations::{analysed, differ};
use crate::languages::python::names_docstrings_in;

const TEXT: &str = "\
'''Module.'''
def f():
    '''One.'''
class C:
    '''Two.'''
    x = 1
    def m(self):
        '''Three.'''
    def __eq__(self, other):
        '''Four.'''
@d
def g():
    '''Five.'''
class M(metaclass=d):
    '''Six.'''
    def m(self):
        '''Seven.'''
class N:
    '''Eight.'''
    def m(self, a=__doc__): pass
def outer():
    def inner():
        '''Nine.'''
";

#[test]
fn a_docstring_stands_apart_from_what_it_is_of() {
    for (from, to, expected) in [
        ("'''One.'''", "'''Other.'''", &["f.''"][..]),
        ("'''One.'''", "pass", &["f.''"]),
        ("'''One.'''", r"'''O\ne.'''", &["f", "f.''"]),
        ("'''One.'''", r"r'''O\ne.'''", &["f.''"]),
        ("'''One.'''", "f'''One.'''", &["f.''"]),
        ("'''Two.'''", "'''Other.'''", &["C.\"\""]),
        ("    '''Two.'''\n", "", &["C.\"\""]),
        ("'''Three.'''", "'''Other.'''", &["C.m.''"]),
        ("'''Four.'''", "'''Other.'''", &["C.\"\""]),
        ("'''Five.'''", "'''Other.'''", &["''"]),
        // Who makes the class is handed it.
        ("'''Six.'''", "'''Other.'''", &["effects"]),
        ("'''Seven.'''", "'''Other.'''", &["''"]),
        // A default is made of it.
        ("'''Eight.'''", "'''Other.'''", &["N"]),
        ("'''Nine.'''", "'''Other.'''", &[]),
    ] {
        assert_eq!(
            differ(TEXT, &TEXT.replace(from, to)),
            expected,
            "{from} {to}"
        );
    }
    assert_ne!(
        differ(TEXT, &TEXT.replace("'''Module.'''", "'''Other.'''")),
        [""; 0]
    );
}

fn reads(text: &str) -> bool {
    let code = analysed(text).names.code;
    code.iter()
        .any(|(name, uses)| name.ends_with('f') && uses.reads_docs)
}

#[test]
fn readers_are_known_by_name() {
    for text in [
        "def f(x): return x.__doc__",
        "def f(x): return getattr(x, '__doc__')",
        "def f(x): return '{0.__doc__}'.format(x)",
        "import inspect\ndef f(x): return inspect.getdoc(x)",
        "from inspect import getdoc as g\ndef f(x): return g(x)",
        "def f(x): return help(x)",
        "def f(x): return dir(x)",
        "def f(x): return x.__code__.co_consts",
        "def f(x): return map(eval, x)",
        "class C:\n  def f(self, x): return dir(x)",
        "class C:\n  def f(x): return dir(x)",
        "class C:\n  def f(self, x):\n    self = x\n    return dir(self)",
        "class C:\n  def f(self): return dir(self), dir(self.m)",
        "class C:\n  def f(self): return lambda self: dir(self)",
        "def f(x): return x.shortDescription()",
        "import functools\ndef f(x): return [getattr(x, n) for n in functools.WRAPPER_ASSIGNMENTS]",
    ] {
        assert!(reads(text), "{text}");
    }
    for text in [
        "def f(x): return getattr(x, x.name)",
        "def f(x): return x.__annotations__",
        "class C:\n  def f(self): return dir(self)",
        "class C:\n  @classmethod\n  def f(cls, x): return [x.y for y in dir(cls)]",
        "import functools\ndef f(x): return functools.wraps(x)",
        "import inspect\ndef f(x): return inspect.cleandoc(x)",
    ] {
        assert!(!reads(text), "{text}");
    }
}

#[test]
fn names_of_parameters_are_no_annotations() {
    let reads = |text: &str| analysed(text).names.code["f"].reads;
    for text in [
        "import inspect\ndef f(x): return list(inspect.signature(x).parameters.keys())",
        "from inspect import signature\ndef f(x): return 'a' in signature(x).parameters.keys()",
    ] {
        assert!(!reads(text), "{text}");
    }
    for text in [
        "import inspect\ndef f(x): return inspect.signature(x).parameters.values()",
        "import inspect\ndef f(x): return inspect.signature(x).parameters",
        "import inspect\ndef f(x): return inspect.signature(x, eval_str=True).parameters.keys()",
        "import inspect\ndef f(x): return inspect.signature(x.__annotations__).parameters.keys()",
    ] {
        assert!(reads(text), "{text}");
    }
}

#[test]
fn installed_packages_that_read_are_told_by_their_words() {
    for code in [
        &b"def f(x): return x.__doc__"[..],
        b"import inspect\ndef f(x): return inspect.getdoc(x)",
        b"\0\x07__doc__\0",
        b"import marshal",
    ] {
        assert!(names_docstrings_in(code));
    }
    for code in [
        &b"def f(x): return x.getdoc()"[..],
        b"def f(x): return x.__code__.co_varnames",
        b"documented = []",
    ] {
        assert!(!names_docstrings_in(code));
    }
}
