"""Takings by address: what one process did to what it holds."""

import shutil
import subprocess
import sysconfig

import pytest

MODULE = """
import types
held = types.ModuleType("held")
held.lines = (line for line in "abc")
held.opened = open(__file__)
held.registry = {"a": object()}
held.nothing = object()
class Kind: member = object()
Kind.__module__, Kind.__qualname__ = "held", "Kind"
held.Kind = Kind
kept = []
def take():
    found = native.cells((("held", held, (), True),), (), 3)
    kept.append(found.pop(None))
    return found
first = take()
def touched():
    now = take()
    return sorted(
        (label, str(key)) for label in now.keys() | first.keys()
        for key in now.get(label, {}).keys() | first.get(label, {}).keys()
        if now.get(label, {}).get(key) != first.get(label, {}).get(key)
    )
"""


def test_what_stays_where_it_is_equals_itself(run):
    (found, kinds) = run(
        MODULE + "others = [object() for _ in range(9)]\nout(touched())\n"
        "out(sorted({type(one).__name__ for cells in first.values() for one in cells.values()}))\n"
    )
    assert found == [] and kinds == ["bytes"]


@pytest.mark.parametrize(
    "change, cell",
    [
        ("other = (line for line in 'abc'); held.lines = other", ["held", "lines"]),
        ("other = open(__file__); held.opened = other", ["held", "opened"]),
        ("next(held.lines)", ["held", "lines"]),
        # The one that was there makes no room for it.
        ("held.opened = None; held.opened = open(__file__)", ["held", "opened"]),
        ("held.registry['b'] = 1", ["held", "registry"]),
        ("other = object(); held.registry['a'] = other", ["held", "registry"]),
        ("other = object(); held.nothing = other", ["held", "nothing"]),
        ("other = object(); Kind.member = other", ["held:Kind", "member"]),
        ("held.added = 1", ["held", "added"]),
        ("del held.nothing", ["held", "nothing"]),
    ],
)
def test_a_change(run, change, cell):
    (found,) = run(MODULE + change + "\nout(touched())\n")
    assert found == [cell]


STATIC = """
#include <Python.h>
/* What stands behind the type is no name of a heap type. */
static struct { PyTypeObject type; void *behind[64]; } made = {
    .type = {PyVarObject_HEAD_INIT(NULL, 0) .tp_name = "static.Kind",
             .tp_basicsize = sizeof(PyObject) + FIELDS, .tp_flags = Py_TPFLAGS_DEFAULT},
};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "static", NULL, -1, NULL};
PyMODINIT_FUNC PyInit_static(void) {
    for (int at = 0; at < 64; at++) made.behind[at] = (void *)0x30;
    if (PyType_Ready(&made.type) < 0) return NULL;
    PyObject *module = PyModule_Create(&definition);
    PyObject *name = PyUnicode_FromString("static");
    PyDict_SetItemString(made.type.tp_dict, "__module__", name);
    PyType_Modified(&made.type);
    PyModule_AddObject(module, "kind", (PyObject *)&made.type);
    PyModule_AddObject(module, "one", PyObject_New(PyObject, &made.type));
    return module;
}
"""


@pytest.mark.parametrize("fields", [0, 8])
def test_a_static_type_that_has_a_module(run, tmp_path, fields):
    """Those of `cffi` do. A static type ends before the names that others have. If it adds no field
    to `object`, it holds nothing."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    (tmp_path / "static.c").write_text(STATIC)
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-DFIELDS=%d" % fields, "-I", sysconfig.get_path("include"),
         "-o", str(tmp_path / "static.so"), str(tmp_path / "static.c")],
        check=True,
    )
    (found,) = run(
        "sys.path.insert(0, sys.argv[1])\nimport static\n"
        "out([str(native.cells((('x', [static.kind, static.one]), ('m', static))))])\n",
        str(tmp_path),
    )
    assert ("static.Kind" in found[0]) == (fields > 0)
