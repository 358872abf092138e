"""Writes the table of standard-library names that exist in every supported
Python: `stdlib_names.py PYTHON... > src/languages/python/stdlib.txt`.

One line a module: its name, then the public names that a plain import gives.
A `*` follows a class that can be derived from, and whose derivation does
nothing of its own: no metaclass but `ABCMeta`, no `__init_subclass__`.
"""

import subprocess
import sys

MODULES = """builtins abc argparse ast asyncio base64 binascii bisect calendar cmd codecs
collections collections.abc concurrent concurrent.futures configparser contextlib contextvars
copy csv dataclasses datetime decimal difflib dis email email.message email.utils enum errno
fnmatch fractions functools gc getpass glob gzip hashlib heapq hmac html html.parser http http.client
importlib importlib.metadata importlib.util inspect io ipaddress itertools json keyword linecache
locale logging logging.handlers math mimetypes multiprocessing numbers operator optparse os os.path
pathlib pickle pkgutil platform posixpath pprint queue random re sched secrets select selectors
shlex shutil signal socket stat statistics string struct subprocess sys sysconfig tempfile textwrap
threading time timeit token tokenize traceback types typing unicodedata unittest unittest.mock
urllib urllib.error urllib.parse urllib.request uuid warnings weakref xml xml.dom xml.etree
xml.etree.ElementTree zipfile zoneinfo
""".split()

# Removed in 3.14.
GONE = {"ByteString", "Bytes", "Ellipsis", "NameConstant", "Num", "Str"}

# Set by `site`, which can be switched off.
SITE = {"copyright", "credits", "exit", "help", "license", "quit"}

# Their names depend on the operating system.
PLATFORM = {"errno", "os", "signal", "socket", "time", "select", "selectors"}

CODE = """
import abc, importlib, types

def is_plain(value):
    try:
        if type(value) not in (type, abc.ABCMeta):
            return False
        types.new_class("X", (value,))
        return all("__init_subclass__" not in vars(c) for c in value.__mro__[:-1])
    except Exception:
        return False

for m in %r:
    try:
        module = importlib.import_module(m)
    except ImportError:
        continue
    names = sorted(n for n in dir(module) if n[0] != '_')
    print(m, *(n + "*" * is_plain(getattr(module, n)) for n in names))
"""


def table(python):
    out = subprocess.run([python, "-W", "ignore", "-c", CODE % MODULES], stdout=subprocess.PIPE, check=True)
    return {line.split()[0]: set(line.split()[1:]) for line in out.stdout.decode().splitlines()}


def common(module):
    """The names in all versions; with a `*` if all versions agree on it."""
    plain = set.intersection(*(table[module] for table in tables))
    names = set.intersection(*({name.rstrip("*") for name in table[module]} for table in tables))
    return {name + "*" * (name + "*" in plain) for name in names - GONE - SITE}


tables = [table(python) for python in sys.argv[1:]]
print("# Made by benches/stdlib_names.py from Python 3.8 to 3.13.")
for module in MODULES:
    if all(module in table for table in tables):
        print(module, *sorted(common(module) if module not in PLATFORM else ()))
