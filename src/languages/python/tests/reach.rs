//! Which names a unit mentions, and whether it may reach others.

use super::parse;

#[test]
fn mentions_are_of_the_unit_that_spells_them() {
    let module = parse(
        "
import alpha.beta as gamma
from .delta import epsilon

@deco
def f(param: 'Annot[Inner]' = dflt):
    global zeta
    obj.eta = call(theta=1)
    patch('pkg.mod.iota')
    f'{kappa:{lam}}' 'not mentioned'
    '{0.fmt}'.format(obj)
    match obj:
        case {'key': Cls(attr=mu), **rest} if nu: pass
    def inner(xi): return lambda omicron: pi
    try: import lazy
    except E as exc: pass

class C:
    field = value
    def m(self): return self.__private
",
    );
    for name in [
        "zeta", "eta", "theta", "iota", "pkg", "kappa", "lam", "fmt", "Cls", "attr", "mu", "nu",
        "inner", "xi", "omicron", "pi", "lazy", "exc", "E",
    ] {
        assert!(module.mentions(Some("f"), name), "{name}");
        assert!(!module.mentions(None, name), "{name}");
        assert!(!module.mentions(Some("C.m"), name), "{name}");
    }
    for name in [
        "alpha", "beta", "gamma", "delta", "epsilon", "deco", "param", "Annot", "Inner", "dflt",
        "field", "value", "f", "C", "m",
    ] {
        assert!(module.mentions(None, name), "{name}");
        assert!(!module.mentions(Some("C.m"), name), "{name}");
    }
    assert!(!module.mentions(Some("f"), "mentioned"));
    assert!(module.mentions(Some("C.m"), "__private"));
    assert!(module.mentions(Some("C.m"), "_C__private"));
    assert!(module.mentions(Some("no such unit"), "anything"));
}

fn is_dynamic(top: &str, body: &str) -> bool {
    let module = parse(&format!("{top}\ndef f(x, y):\n    {body}\n"));
    module.is_dynamic(Some("f"))
}

#[test]
fn code_that_computes_names_is_dynamic() {
    for body in [
        "getattr(x, y)",
        "getattr(x, f'a{y}')",
        "map(getattr, x)",
        "setattr(x, y, 1)",
        "monkeypatch.setattr(x, y, 1)",
        "attrgetter(y)",
        "globals()",
        "vars()[y]",
        "return locals()",
        "x.__dict__",
        "eval(y)",
        "exec(y)",
        "import sys; sys.modules[y]",
        "import importlib; importlib.import_module(y)",
        "from importlib import import_module as i; i(y)",
        "__import__(y)",
        "import inspect; inspect.stack()",
        "import inspect; inspect.signature(x)",
        "inspect = y; import importlib as inspect; inspect.isclass(y)",
        "import pickle; pickle.loads(y)",
        "lambda: eval(y)",
        "x.__dict__.setattr('a', 1)",
    ] {
        assert!(is_dynamic("", body), "{body}");
    }
    for (top, body) in [
        ("import pickle as p", "p.loads(y)"),
        ("from pickle import loads as l", "l(y)"),
        ("from sys import modules as m", "m[y]"),
        ("import importlib.util", "importlib.util.find_spec(y)"),
        ("from inspect import *", "stack()"),
    ] {
        assert!(is_dynamic(top, body), "{top}; {body}");
        assert!(!is_dynamic(top, "return x.y") || top.contains('*'), "{top}");
    }
}

#[test]
fn code_that_spells_its_names_is_not() {
    for (top, body) in [
        ("", "getattr(x, 'name', y)"),
        ("", "monkeypatch.setattr(x, 'name', y)"),
        ("", "monkeypatch.setattr('module.name', y)"),
        ("", "operator.attrgetter('a')(x)"),
        ("import re", "re.compile(y)"),
        ("import sys", "sys.path.append(y)"),
        ("from importlib import resources", "resources.files(y)"),
        ("import importlib.resources as r", "r.files(y)"),
        ("", "self.modules"),
        ("import pickle", "return y"),
        (
            "import inspect",
            "return inspect.isclass(x), inspect.getmro(x)",
        ),
        ("from inspect import isfunction as i", "return i(x)"),
    ] {
        assert!(!is_dynamic(top, body), "{top}; {body}");
    }
    let module = parse("from a import *\ndef f(): return b\n");
    assert!(module.is_dynamic(None));
    assert!(!module.is_dynamic(Some("f")));
    assert!(module.is_dynamic(Some("no such unit")));
    assert!(!parse("import inspect\nx = 1\n").is_dynamic(None));
}
