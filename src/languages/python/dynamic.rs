//! What lets code reach names that it does not spell.

use super::asked::HAND_OUT_MODULES;
use super::docstrings::{DOCSTRINGS, DOCSTRINGS_IN_TEXT};
use crate::languages::name_hash;

/// Built-in names whose use, whatever the arguments, can reach any name.
pub(super) fn is_dynamic_name(name: &str) -> bool {
    matches!(
        name,
        "globals"
            | "vars"
            | "locals"
            | "eval"
            | "exec"
            | "execfile"
            | "compile"
            | "dir"
            | "__import__"
            | "__builtins__"
            | "__dict__"
    ) || takes_name(name)
}

/// Builtins that ask for an attribute by its name. Of those that are called by their own names the
/// native collector tells which attributes these are.
pub(super) const ASK: [&str; 4] = ["delattr", "getattr", "hasattr", "setattr"];

/// Functions that reach just the name that they are given, if it is a literal.
pub(super) fn takes_name(name: &str) -> bool {
    ASK.contains(&name) || matches!(name, "attrgetter" | "methodcaller")
}

/// Attributes, of any object, that hold or find whatever names there are.
pub(super) fn is_dynamic_attribute(name: &str) -> bool {
    matches!(
        name,
        "__dict__"
            | "__globals__"
            | "__builtins__"
            | "__getattribute__"
            | "__subclasses__"
            | "__import__"
            | "f_globals"
            | "f_locals"
            | "f_back"
            | "f_builtins"
            | "_getframe"
            | "_current_frames"
            | "currentframe"
            | "import_module"
            | "reload"
    ) || takes_name(name)
}

/// Whether what is imported from here can reach any name: `module` is dotted,
/// `item` the name in `from module import item`.
pub(super) fn is_dynamic_import(module: &str, item: Option<&str>) -> bool {
    let (root, rest) = module.split_once('.').unwrap_or((module, ""));
    match root {
        // Reads files beside a package; the names in it are out of its reach.
        "importlib" => !(rest.starts_with("resources") || item == Some("resources")),
        "inspect" => !item.is_some_and(only_looks_at),
        "pickle" | "_pickle" | "marshal" | "shelve" | "copyreg" | "dill" | "cloudpickle"
        | "joblib" | "jsonpickle" | "gc" | "ctypes" | "builtins" | "runpy" | "pkgutil" | "imp"
        | "code" | "codeop" | "zipimport" | "pydoc" => true,
        "sys" => matches!(
            item,
            Some("modules" | "_getframe" | "_current_frames" | "*")
        ),
        "operator" => matches!(item, Some("attrgetter" | "methodcaller")),
        _ => false,
    }
}

/// What of `inspect` tells of the kind or the bases of what it is given, and
/// finds nothing by name.
pub(super) fn only_looks_at(item: &str) -> bool {
    matches!(
        item,
        "isabstract"
            | "isasyncgen"
            | "isasyncgenfunction"
            | "isawaitable"
            | "isbuiltin"
            | "isclass"
            | "iscode"
            | "iscoroutine"
            | "iscoroutinefunction"
            | "isfunction"
            | "isgenerator"
            | "isgeneratorfunction"
            | "ismethod"
            | "ismodule"
            | "isroutine"
            | "getmro"
            | "cleandoc"
    )
}

/// Built-in names through which code can reach any name of any module. (Those
/// that are given an object reach what that object holds; a module must have
/// been used as a value to get there.)
pub(super) fn is_wide_name(name: &str) -> bool {
    WIDE_NAMES.contains(&name)
}

const WIDE_NAMES: [&str; 6] = [
    "eval",
    "exec",
    "execfile",
    "compile",
    "__import__",
    "__builtins__",
];

/// Attributes, of any object, that lead to namespaces or to classes that
/// nobody named.
pub(super) fn is_wide_attribute(name: &str) -> bool {
    WIDE_ATTRIBUTES.contains(&name)
}

const WIDE_ATTRIBUTES: [&str; 5] = [
    "__builtins__",
    "__subclasses__",
    "__import__",
    "f_builtins",
    // Hands out functions by where they stand.
    "get_overloads",
];

/// Attributes that lead to namespaces or frames. The native collector tells what code of the
/// project gets from these.
pub(super) fn is_watched_attribute(name: &str) -> bool {
    WATCHED_ATTRIBUTES.contains(&name)
}

const WATCHED_ATTRIBUTES: [&str; 7] = [
    "__globals__",
    "f_globals",
    "f_locals",
    "f_back",
    "_getframe",
    "_current_frames",
    "currentframe",
];

/// The same of what is imported. What pickles name is told as well.
pub(super) fn is_watched_import(module: &str, item: Option<&str>) -> bool {
    matches!(
        (module, item),
        ("sys", Some("_getframe" | "_current_frames"))
            | ("inspect", Some("currentframe"))
            | ("pickle" | "_pickle" | "shelve", _)
    )
}

/// A name that generated code spells, or that a collector told.
#[derive(Clone, Copy, Debug)]
pub(super) struct Generated<'a> {
    pub name: &'a str,
    pub by: Spelling,
}

/// How generated code comes to what has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spelling {
    /// Imports it, or nobody knows with whose names the code runs.
    Imported,
    /// Loads it as a global name.
    Loaded,
    /// Asks objects for it, or has it in a text.
    Asked,
    /// Code of a source asked an object for it, by a name that it had worked out.
    Told,
    /// The same, and it got nothing by it: it asked whether there is such an attribute, or set one.
    Met,
}

/// The marks of these two. At import they come to no more than the values that are left.
pub(crate) const TOLD: [char; 2] = ['=', '?'];

impl Generated<'_> {
    /// Whether the code got what has the name.
    pub(super) fn is_got(self) -> bool {
        self.by != Spelling::Met
    }

    /// From the text of a unit: `name` is imported, `:name` loaded, `.name` asked for,
    /// `=name` and `?name` told.
    pub(super) fn of(text: &str) -> Generated<'_> {
        let known = [
            (':', Spelling::Loaded),
            ('.', Spelling::Asked),
            (TOLD[0], Spelling::Told),
            (TOLD[1], Spelling::Met),
        ];
        let mut marked = known
            .into_iter()
            .filter_map(|(mark, by)| Some((text.strip_prefix(mark)?, by)));
        let (name, by) = marked.next().unwrap_or((text, Spelling::Imported));
        Generated { name, by }
    }

    fn is_loaded(self) -> bool {
        matches!(self.by, Spelling::Imported | Spelling::Loaded)
    }

    /// Whether the code may reach any name.
    pub(super) fn is_wide(self) -> bool {
        let name = self.name;
        match self.by {
            // The library's own ways to names, and frames, are seen.
            Spelling::Told => return is_wide_attribute(name),
            Spelling::Met => return false,
            _ => {}
        }
        let as_loaded =
            is_wide_name(name) || is_wide_import(name, None) || WIDE_BUILTINS.contains(&name);
        self.is_loaded() && as_loaded
            || is_wide_attribute(name)
            || is_watched_attribute(name)
            || LEAD_TO_NAMES.contains(&name)
    }

    /// Whether it gets all members of something, of which the collector tells if it is a class.
    pub(super) fn lists_members(self) -> bool {
        self.by == Spelling::Told && lists_members(self.name)
    }

    pub(super) fn looks_up(self) -> bool {
        let asks = ASK.contains(&self.name);
        let is_builtin = asks || matches!(self.name, "vars" | "dir");
        let does = asks || looks_up(self.name) || lists_members(self.name);
        does && self.is_got() && (self.is_loaded() || !is_builtin)
    }
}

const WIDE_BUILTINS: [&str; 5] = ["globals", "locals", "vars", "dir", "help"];

const LEAD_TO_NAMES: [&str; 3] = ["__dict__", "modules", "import_module"];

/// All names that mean more to generated code than what has these names: [`Generated`], and what
/// a unit tells that spells them, but for annotations.
pub(super) fn leading() -> Vec<&'static str> {
    let lists: [&[&str]; 17] = [
        &["inspect", "gc", "builtins", "__main__"],
        &ASK,
        &WIDE_NAMES,
        &WIDE_ATTRIBUTES,
        &WATCHED_ATTRIBUTES,
        &WIDE_MODULES,
        &WIDE_BUILTINS,
        &LEAD_TO_NAMES,
        &LOOK_UP,
        &MEMBERS,
        &LIST_ALL,
        &DOCSTRINGS,
        &DOCSTRINGS_IN_TEXT,
        &ASK_FOR_ANYTHING,
        &LIST_MEMBERS,
        &BEYOND_VALUES,
        &HAND_OUT_MODULES,
    ];
    lists.concat()
}

/// Names, of whatever it be, by which code gets at attributes that nobody
/// spelled, those that are inherited included.
pub(super) fn looks_up(name: &str) -> bool {
    LOOK_UP.contains(&name)
}

const LOOK_UP: [&str; 20] = [
    "getattr",
    "attrgetter",
    "methodcaller",
    "getmembers",
    "getmembers_static",
    "getattr_static",
    "classify_class_attrs",
    "__getattribute__",
    "getdoc",
    "render_doc",
    // The library's own readers of what classes hold.
    "Cmd",
    "SimpleXMLRPCDispatcher",
    "SimpleXMLRPCServer",
    "CGIXMLRPCRequestHandler",
    "DocXMLRPCServer",
    "TestLoader",
    "defaultTestLoader",
    "shortDescription",
    "DocTestFinder",
    "dis",
];

/// Names by which code gets all members of classes at once. Of which classes the native collector
/// tells.
pub(super) fn lists_members(name: &str) -> bool {
    MEMBERS.contains(&name)
}

const MEMBERS: [&str; 4] = ["vars", "dir", "__dict__", "__dir__"];

/// Whether what is imported from here leads to any name of any module: `item`
/// is the name in `from module import item` or `module.item`, `None` the
/// module itself, passed on.
pub(super) fn is_wide_import(module: &str, item: Option<&str>) -> bool {
    match module.split('.').next().unwrap_or_default() {
        "inspect" => item.is_none_or(|item| {
            matches!(
                item,
                "*" | "stack"
                    | "trace"
                    | "getargvalues"
                    | "getmodule"
                    | "getframeinfo"
                    | "getouterframes"
                    | "getinnerframes"
                    | "getclosurevars"
                    | "getsource"
                    | "getsourcefile"
            )
        }),
        "gc" => item.is_none_or(|item| item.starts_with("get_") || item == "*"),
        "builtins" => item.is_none_or(|item| item == "*" || is_wide_name(item)),
        "typing" => item == Some("get_overloads"),
        "sys" => matches!(item, Some("modules" | "*")),
        "__main__" => true,
        module => WIDE_MODULES.contains(&module),
    }
}

/// Modules, whatever is imported from there.
const WIDE_MODULES: [&str; 13] = [
    "copyreg",
    "dill",
    "cloudpickle",
    "joblib",
    "jsonpickle",
    "ctypes",
    "runpy",
    "pkgutil",
    "imp",
    "code",
    "codeop",
    "zipimport",
    "pydoc",
];

/// Whether asking a module for this attribute tells nothing but its value;
/// `__dict__` and the like hand out all the others.
pub(super) fn is_benign_dunder(name: &str) -> bool {
    !(name.starts_with("__") && SPECIAL.contains(&name))
}

/// What modules, classes and functions have of their own, but for plain texts. Whatever else has
/// such a name is a global name of a module, as `__version__` is.
const SPECIAL: [&str; 67] = [
    "__abstractmethods__",
    "__annotate__",
    "__annotations__",
    "__base__",
    "__bases__",
    "__basicsize__",
    "__builtins__",
    "__call__",
    "__class__",
    "__closure__",
    "__code__",
    "__defaults__",
    "__delattr__",
    "__delete__",
    "__dict__",
    "__dictoffset__",
    "__dir__",
    "__eq__",
    "__firstlineno__",
    "__flags__",
    "__format__",
    "__func__",
    "__ge__",
    "__get__",
    "__getattr__",
    "__getattribute__",
    "__getstate__",
    "__globals__",
    "__gt__",
    "__hash__",
    "__import__",
    "__init__",
    "__init_subclass__",
    "__instancecheck__",
    "__isabstractmethod__",
    "__itemsize__",
    "__kwdefaults__",
    "__le__",
    "__loader__",
    "__lt__",
    "__module__",
    "__mro__",
    "__ne__",
    "__new__",
    "__or__",
    "__prepare__",
    "__qualname__",
    "__reduce__",
    "__reduce_ex__",
    "__repr__",
    "__ror__",
    "__self__",
    "__set__",
    "__set_name__",
    "__setattr__",
    "__sizeof__",
    "__spec__",
    "__static_attributes__",
    "__str__",
    "__subclasscheck__",
    "__subclasses__",
    "__subclasshook__",
    "__text_signature__",
    "__type_params__",
    "__weakref__",
    "__weakrefoffset__",
    "__wrapped__",
];

/// Names by which code gets at annotations, of whatever it be; the standard
/// library's own readers have to be named to run. (`dir` and `help` are told
/// from other things of these names by where they stand.)
pub(super) fn reads_annotations(name: &str) -> bool {
    READERS_IN_TEXT.contains(&name)
        || lists_what_there_is(name)
        || matches!(
            name,
            "annotationlib"
                | "signature"
                | "Signature"
                | "singledispatch"
                | "singledispatchmethod"
                | "dataclass"
                | "make_dataclass"
        )
}

/// Names by which code comes to members, and to what these have, without naming them.
pub(super) fn lists_what_there_is(name: &str) -> bool {
    LIST_ALL.contains(&name)
}

const LIST_ALL: [&str; 11] = [
    "__dir__",
    "getmembers",
    "getmembers_static",
    "classify_class_attrs",
    "render_doc",
    "pydoc",
    "DocTestFinder",
    "SimpleXMLRPCDispatcher",
    "SimpleXMLRPCServer",
    "CGIXMLRPCRequestHandler",
    "Cmd",
];

/// Whether one of the words is among the sorted hashes of names that code asks
/// for.
pub(super) fn names_any(words: &[&str], asks: &[u32]) -> bool {
    let mut words = words.iter();
    words.any(|word| asks.binary_search(&name_hash(word)).is_ok())
}

/// Whether an installed package's source or extension module names what reads
/// annotations of things that it did not define itself.
pub(in crate::languages) fn names_readers_in(code: &[u8]) -> bool {
    let lines = || code.split(|byte| *byte == b'\n');
    let inspects = lines().any(|line| words(line).any(|word| word == b"inspect"));
    lines().any(|line| {
        let line = line.trim_ascii_start();
        // Decorators are for its own classes.
        let is_own = [&b"@"[..], b"from ", b"import "]
            .iter()
            .any(|start| line.starts_with(start));
        words(line).any(|word| match word {
            b"dataclass" | b"singledispatch" | b"singledispatchmethod" => !is_own,
            b"signature"
            | b"Signature"
            | b"getmembers"
            | b"getmembers_static"
            | b"classify_class_attrs" => inspects,
            b"make_dataclass" | b"annotationlib" => true,
            word => std::str::from_utf8(word).is_ok_and(|word| READERS_IN_TEXT.contains(&word)),
        })
    })
}

pub(super) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let is_word = |byte: u8| byte == b'_' || byte.is_ascii_alphanumeric();
    line.split(move |byte| !is_word(*byte))
        .filter(|word| word.len() > 5)
}

/// Those among them that are looked for in strings, keywords and imports of
/// functions, too.
pub(super) const READERS_IN_TEXT: [&str; 10] = [
    "__annotations__",
    "__annotate__",
    "__annotations_cache__",
    "__signature__",
    "get_type_hints",
    "get_annotations",
    "getfullargspec",
    "getargspec",
    "create_autospec",
    "autospec",
];

/// Names by which an instance gives annotations of its class. Who reads others is seen.
pub(super) const ANNOTATIONS: [&str; 4] = [
    "__annotations__",
    "__annotate__",
    "__annotate_func__",
    "__annotations_cache__",
];

/// Names by which code gets at cells that nobody spells: it makes the text of annotations
/// mean something again, asks pytest for a fixture by name, or lists a context. (What
/// `singledispatch` does with annotations is seen.)
pub(super) const ASK_FOR_ANYTHING: [&str; 10] = [
    "copy_context",
    "getfixturevalue",
    "getfuncargvalue",
    "get_type_hints",
    "get_annotations",
    "eval_str",
    "ForwardRef",
    "evaluate_forward_ref",
    "_evaluate",
    "_eval_type",
];

/// Names by which a library is told to list the members of what it is given.
pub(super) const LIST_MEMBERS: [&str; 5] =
    ["spec", "spec_set", "create_autospec", "autospec", "seal"];

/// Names by which code reads what belongs to no value.
pub(super) const BEYOND_VALUES: [&str; 5] = [
    "cache_info",
    "co_lines",
    "co_positions",
    "getsourcelines",
    "findsource",
];
