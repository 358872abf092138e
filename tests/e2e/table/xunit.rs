//! Set-up in the style of xunit, and unittest's.

use crate::harness::*;

cases!(xunit);

const XUNIT: &str = r#"
-- make.py --
def module():
    return 1


def klass():
    return 1


def method():
    return 1


def unit_class():
    return 1


def unit():
    return 1


def cleanup():
    pass


def unit_module():
    return 1
-- test_xunit.py --
import make

STATE = {}


def setup_module(module):
    STATE["module"] = make.module()


class TestClass:
    @classmethod
    def setup_class(cls):
        cls.value = make.klass()

    def setup_method(self, method):
        self.own = make.method()

    def test_class_first(self):
        assert self.value == 1

    def test_class_second(self):
        assert self.own == 1


def test_module_first():
    assert STATE["module"] == 1


def test_module_second():
    assert STATE["module"] == 1
-- test_unittest.py --
import unittest

import make


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.value = make.unit_class()

    def setUp(self):
        self.own = make.unit()
        self.addCleanup(make.cleanup)

    def test_first(self):
        self.assertEqual(self.value, 1)

    def test_second(self):
        for i in range(2):
            with self.subTest(i=i):
                self.assertEqual(self.own, 1)


class Other(unittest.TestCase):
    def test_other(self):
        pass

    @unittest.skip("not now")
    def test_skipped(self):
        pass

    @unittest.expectedFailure
    def test_expected(self):
        self.fail()
-- test_unit_module.py --
import unittest

import make

VALUE = None


def setUpModule():
    global VALUE
    VALUE = make.unit_module()


class Case(unittest.TestCase):
    def test_first(self):
        self.assertEqual(VALUE, 1)

    def test_second(self):
        self.assertEqual(VALUE, 1)
"#;

/// Set-up functions in the style of xunit, and those of unittest.
fn xunit() -> Case {
    Case::new(XUNIT)
        .edit(
            "setup_module",
            [
                replace("make.py", "\n\ndef klass", "\n\n\n# moved\ndef klass"),
                replace(
                    "make.py",
                    "def module():\n    return 1",
                    "def module():\n    return 2",
                ),
            ],
            [
                "test_xunit.py::TestClass::test_class_first",
                "test_xunit.py::TestClass::test_class_second",
                "! test_xunit.py::test_module_first",
                "! test_xunit.py::test_module_second",
            ],
        )
        .edit(
            "setup_class",
            [replace(
                "make.py",
                "def klass():\n    return 1",
                "def klass():\n    return 2",
            )],
            between(
                [
                    "! test_xunit.py::TestClass::test_class_first",
                    "test_xunit.py::TestClass::test_class_second",
                ],
                // They name the state that the same test left.
                [
                    "test_xunit.py::test_module_first",
                    "test_xunit.py::test_module_second",
                ],
            ),
        )
        .edit(
            "setup_method",
            [replace(
                "make.py",
                "def method():\n    return 1",
                "def method():\n    return 2",
            )],
            between(
                [
                    "test_xunit.py::TestClass::test_class_first",
                    "! test_xunit.py::TestClass::test_class_second",
                ],
                // They name the state that the same test left.
                [
                    "test_xunit.py::test_module_first",
                    "test_xunit.py::test_module_second",
                ],
            ),
        )
        .edit(
            "setUpClass",
            [replace(
                "make.py",
                "def unit_class():\n    return 1",
                "def unit_class():\n    return 2",
            )],
            [
                "! test_unittest.py::Case::test_first",
                "test_unittest.py::Case::test_second",
            ],
        )
        .edit(
            "setUp",
            [replace(
                "make.py",
                "def unit():\n    return 1",
                "def unit():\n    return 2",
            )],
            [
                "test_unittest.py::Case::test_first",
                "! test_unittest.py::Case::test_second",
            ],
        )
        .edit(
            "addCleanup",
            [replace("make.py", "pass", "return 1")],
            [
                "test_unittest.py::Case::test_first",
                "test_unittest.py::Case::test_second",
            ],
        )
        .edit(
            "setUpModule",
            [replace(
                "make.py",
                "def unit_module():\n    return 1",
                "def unit_module():\n    return 2",
            )],
            [
                "! test_unit_module.py::Case::test_first",
                "! test_unit_module.py::Case::test_second",
            ],
        )
}
