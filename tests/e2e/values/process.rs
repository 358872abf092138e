//! State of the process and of libraries that import-time code changes: whoever can read it
//! runs.

use crate::harness::*;

cases!(common);

/// The test that can see it, what holds before, and a statement that changes it.
type Setting = (&'static str, &'static str, &'static str);

const COMMON: [Setting; 7] = [
    (
        "! test_set_up.py::test_environment",
        "'ODD' not in os.environ",
        "os.environ['ODD'] = '1'",
    ),
    (
        "! test_set_up.py::test_path",
        "'/odd' not in sys.path",
        "sys.path.append('/odd')",
    ),
    (
        "! test_set_up.py::test_random",
        "random.random() != 0.8444218515250481",
        "random.seed(0)",
    ),
    (
        "! test_set_up.py::test_logging",
        "logging.getLogger().level == logging.WARNING",
        "logging.getLogger().setLevel(logging.ERROR)",
    ),
    (
        "! test_set_up.py::test_json",
        "json.dumps([1, 2]) == '[1, 2]'",
        "json.dumps = lambda value: 'odd'",
    ),
    (
        "! test_set_up.py::test_decimal",
        "decimal.getcontext().prec == 28",
        "decimal.getcontext().prec = 5",
    ),
    (
        "! test_set_up.py::test_context_variable",
        "VAR.get() == 1",
        "VAR.set(2)",
    ),
];

const RARE: [Setting; 30] = [
    (
        "! test_set_up.py::test_recursion",
        "sys.getrecursionlimit() < 1500",
        "sys.setrecursionlimit(1500)",
    ),
    (
        "! test_set_up.py::test_signal",
        "signal.getsignal(signal.SIGUSR1) is signal.SIG_DFL",
        "signal.signal(signal.SIGUSR1, signal.SIG_IGN)",
    ),
    (
        "! test_set_up.py::test_atexit",
        "atexit._ncallbacks() < 1000",
        "[atexit.register(id, 1) for _ in range(1000)]",
    ),
    (
        "! test_set_up.py::test_locale",
        "locale.setlocale(locale.LC_CTYPE) != 'C'",
        "locale.setlocale(locale.LC_ALL, 'C')",
    ),
    (
        "! test_set_up.py::test_folder",
        "os.getcwd() != '/'",
        "os.chdir('/')",
    ),
    (
        "! test_set_up.py::test_umask",
        "os.umask(0o22) != 0o77",
        "os.umask(0o77)",
    ),
    (
        "! test_set_up.py::test_socket",
        "socket.getdefaulttimeout() is None",
        "socket.setdefaulttimeout(5)",
    ),
    (
        "! test_set_up.py::test_csv_field",
        "csv.field_size_limit() != 5",
        "csv.field_size_limit(5)",
    ),
    (
        "! test_set_up.py::test_csv_dialect",
        "'odd' not in csv.list_dialects()",
        "csv.register_dialect('odd', delimiter=';')",
    ),
    (
        "! test_set_up.py::test_garbage",
        "gc.get_threshold()[0] != 123",
        "gc.set_threshold(123, 10, 10)",
    ),
    (
        "! test_set_up.py::test_switch",
        "sys.getswitchinterval() < 0.02",
        "sys.setswitchinterval(0.02)",
    ),
    (
        "! test_set_up.py::test_hook",
        "sys.excepthook is sys.__excepthook__",
        "sys.excepthook = print",
    ),
    (
        "! test_set_up.py::test_stack",
        "threading.stack_size() == 0",
        "threading.stack_size(1 << 20)",
    ),
    (
        "! test_set_up.py::test_modules",
        "'odd' not in sys.modules",
        "sys.modules['odd'] = sys",
    ),
    (
        "! test_set_up.py::test_builtins",
        "not hasattr(builtins, 'odd')",
        "builtins.odd = 1",
    ),
    (
        "! test_set_up.py::test_finders",
        "print not in sys.path_hooks",
        "sys.path_hooks.append(print)",
    ),
    (
        "! test_set_up.py::test_archives",
        "'odd' not in dict(shutil.get_archive_formats())",
        "shutil.register_archive_format('odd', print)",
    ),
    (
        "! test_set_up.py::test_temporary",
        "tempfile.gettempdir() != '/odd'",
        "tempfile.tempdir = '/odd'",
    ),
    (
        "! test_set_up.py::test_adapter",
        "sqlite3.connect(':memory:').execute('select ?', (1,)).fetchone() == (1,)",
        "sqlite3.register_adapter(int, lambda value: 2)",
    ),
    (
        "! test_set_up.py::test_formatter",
        "string.Formatter().format('{}', 1) == '1'",
        "string.Formatter.parse = lambda self, text: []",
    ),
    (
        "! test_set_up.py::test_class_of_library",
        "not hasattr(logging.Logger, 'odd')",
        "logging.Logger.odd = 1",
    ),
    (
        "! test_set_up.py::test_default_of_library",
        "logging.Formatter().datefmt is None",
        "logging.Formatter.__init__.__defaults__ = (None, 'odd', '%', True)",
    ),
    (
        "! test_set_up.py::test_lock",
        "not LOCK.locked()",
        "LOCK.acquire()",
    ),
    (
        "! test_set_up.py::test_descriptor",
        "os.lseek(FILE.fileno(), 0, os.SEEK_CUR) == 0",
        "FILE.read(1)",
    ),
    (
        "! test_set_up.py::test_level_name",
        "logging.getLevelName(10) == 'DEBUG'",
        "logging.addLevelName(10, 'ODD')",
    ),
    (
        "! test_set_up.py::test_disabled",
        "logging.root.manager.disable == 0",
        "logging.disable(logging.INFO)",
    ),
    (
        "! test_set_up.py::test_error_handler",
        "'\\xff'.encode('ascii', 'namereplace') != b''",
        "codecs.register_error('namereplace', codecs.ignore_errors)",
    ),
    (
        "! test_set_up.py::test_own_random",
        "GENERATOR.random() == 0.8444218515250481",
        "GENERATOR.random()",
    ),
    (
        "! test_set_up.py::test_thread",
        "threading.active_count() < 50",
        "[threading.Thread(target=EVENT.wait, daemon=True).start() for _ in range(60)]",
    ),
    (
        "! test_set_up.py::test_local",
        "not hasattr(LOCAL, 'odd')",
        "setattr(LOCAL, 'odd', 1)",
    ),
];

const MODULE: &str = r#"
-- set_up.py --
import atexit
import builtins
import codecs
import contextvars
import csv
import decimal
import gc
import json
import locale
import logging
import os
import random
import shutil
import signal
import socket
import sqlite3
import string
import sys
import tempfile
import threading

VAR = contextvars.ContextVar("VAR", default=1)
LOCK = threading.Lock()
EVENT = threading.Event()
LOCAL = threading.local()
GENERATOR = random.Random(0)
FILE = open(sys.executable, "rb")


def prepare():
    pass


prepare()
-- test_set_up.py --
from set_up import *


def test_nothing():
    pass
"#;

fn common() -> Case {
    let case = case_of(&COMMON);
    let nothing = replace(
        "set_up.py",
        "def prepare():\n    pass",
        "def prepare():\n    return None",
    );
    let more = append(
        "set_up.py",
        "\n\nimport fractions\n\nHALF = fractions.Fraction(1, 2)\n",
    );
    case.edit("nothing of it", [nothing], NONE)
        .edit("a new import of a library", [more], NONE)
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn rare() {
    on_all_interpreters(Wanted::Newest, |python| case_of(&RARE).check(python));
}

fn case_of(settings: &[Setting]) -> Case {
    let mut text = MODULE.to_owned();
    for (test, holds, _) in settings {
        let (_, name) = test.rsplit_once("::").unwrap();
        text.push_str(&format!("\n\ndef {name}():\n    assert {holds}\n"));
    }
    settings
        .iter()
        .fold(Case::new(text).by_value(), |case, (test, _, statement)| {
            let change = replace(
                "set_up.py",
                "def prepare():\n    pass",
                &format!("def prepare():\n    {statement}"),
            );
            case.edit(statement, [change], at_least([test]))
        })
}
