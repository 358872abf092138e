"""Replacements for functions that programs call often."""


def test_probe_passes_what_is_skipped(run):
    script = """
import os
seen = []
def look(*arguments, **options):
    seen.append((arguments, sorted(options)))
    return "seen"
class Kind(native.Probe):
    pass
probe = Kind()
try:
    probe("/")
except TypeError as error:
    out(str(error))
probe._plain, probe._skipped, probe._seen = (lambda *a, **k: ["plain", *a]), {"/skip"}, look
class Text(str):
    pass
out([probe("/skip"), probe("/skip", follow=1), probe("/other"), probe(), probe(Text("/skip"))])
out([probe(path="/skip"), probe(["/skip"]), len(seen)])
def fails(*arguments):
    raise KeyError("no")
probe._plain = fails
try:
    probe("/skip")
except KeyError as error:
    out(repr(error))
"""
    plain = ["plain", "/skip"]
    assert run(script) == [
        "this probe has nothing to call",
        [plain, plain, "seen", "seen", "seen"],
        ["seen", "seen", 5],
        "KeyError('no')",
    ]


def test_importer_leaves_no_frame(run):
    """Programs count the frames of a failed import: none means that the module is missing."""
    script = """
import builtins, sys
class Agent: pass
agent = Agent()
agent.top = Agent()
agent.top.imports = set()
plain = builtins.__import__
def other(*arguments): return plain(*arguments)
open("broken_module.py", "w").write("import no_such_module")
sys.path.insert(0, "")
def depth(name):
    try:
        __import__(name)
    except ImportError:
        traceback, found = sys.exc_info()[2], []
        while traceback:
            found.append(traceback.tb_frame.f_code.co_name)
            traceback = traceback.tb_next
        return found
def depths(): return [depth("no_such_module"), depth("broken_module")]
before = depths()
builtins.__import__ = native.importer(agent, other, builtins, "")
out([before == depths(), before])
"""
    (found,) = run(script)
    assert found == [True, [["depth"], ["depth", "<module>"]]]


def test_importer_notes_absolute_imports(run):
    script = """
import builtins, inspect, json, textwrap
class Top: pass
class Agent: pass
agent = Agent()
agent.top = Top()
agent.top.imports = set()
plain = builtins.__import__
asked = []
def other(*arguments, **options):
    asked.append(arguments[:1])
    return plain(*arguments, **options)
builtins.__import__ = native.importer(agent, other, builtins, "__import__($module, /, name)\\n--\\n\\nText.")
import sys
import os.path as path
from json import loads, dumps
noted = sorted(map(repr, agent.top.imports))
out(noted)
agent.top = Top()
agent.top.imports = set()
out([loads is __import__("json").loads, path.__name__, asked])
__import__("json", {}, {}, ["loads"], 0)
__import__(name="json")
try:
    __import__("json", {}, {}, ([],), 0)
except TypeError:
    pass
class Name(str): pass
__import__(Name("json"), None, None, (), 0)
try:
    exec("from . import nothing", {"__package__": "json", "__name__": "json.x"})
except ImportError:
    out(len(asked))
for bad in ("", "no_such_module"):
    try:
        __import__(bad, {}, None, (), 0)
    except (ValueError, ImportError) as error:
        out(type(error).__name__)
out(sorted(map(repr, agent.top.imports)))
out([type(__import__).__name__, __import__.__module__, __import__.__doc__, str(inspect.signature(__import__))])
class Broken:
    pass
agent.top = Broken()
import textwrap
out(asked[-1])
"""
    assert run(script) == [
        [
            "('json', None, ('loads', 'dumps'), 0)",
            "('os.path', None, None, 0)",
            "('sys', None, None, 0)",
        ],
        [True, "posixpath", [["json"]]],
        6,
        "ValueError",
        "ModuleNotFoundError",
        ["('', None, (), 0)", "('no_such_module', None, (), 0)"],
        ["builtin_function_or_method", "builtins", "Text.", "(name)"],
        ["textwrap"],
    ]


def test_append_writes_to_the_same_file_only(run, tmp_path):
    script = """
import os
path, other = sys.argv[1:]
file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
info = os.fstat(file)
identity = info.st_dev, info.st_ino
out(native.append(file, *identity, b"one\\n"))
os.close(file)
out(native.append(file, *identity, b"two\\n"))
assert os.open(other, os.O_WRONLY | os.O_CREAT) == file
out([native.append(file, *identity, b"three\\n"), native.append(-1, *identity, b"four\\n")])
out([open(path).read(), open(other).read()])
"""
    assert run(script, tmp_path / "a", tmp_path / "b") == [4, 0, [0, 0], ["one\n", ""]]
