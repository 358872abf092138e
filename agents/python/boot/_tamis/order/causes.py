"""Why a test ends otherwise after others: the line that reads what they wrote, and the line that
wrote it.

The test runs under a trace function alone and after the others. Where the two ways part, the last
line in common has read a difference. Then the others run again, and after each of their lines the
state that this line names is compared.

PYTEST_DONT_REWRITE
"""

import ast
import json
import linecache
import os
import sys
import traceback
import types

# Lines of a test, cells that are compared after each line, frames of a stack.
_MOST_LINES = 200000
_MOST_CELLS = 60
_MOST_FRAMES = 12

_CODE = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.ModuleType,
    types.MethodType,
    type,
)


class Trace:
    """Hears of each line of the project's own code."""

    def __init__(self, root):
        self.root = os.path.join(str(root), "")

    def __enter__(self):
        self.before = sys.gettrace()
        sys.settrace(self._call)
        return self

    def __exit__(self, *error):
        sys.settrace(self.before)

    def _call(self, frame, event, argument):
        path = frame.f_code.co_filename
        if path.startswith(self.root) and "site-packages" not in path:
            return self._line
        return None

    def _line(self, frame, event, argument):
        if event != "opcode":
            self.heard(frame, event)
        return self._line


# A line that raises is the last one of two ways, too.
_WAY = ("line", "exception")


class Way(Trace):
    """The lines of a test."""

    def __init__(self, root):
        super().__init__(root)
        self.lines = []

    def heard(self, frame, event):
        if event in _WAY and len(self.lines) < _MOST_LINES:
            self.lines.append([event, frame.f_code.co_filename, frame.f_lineno])


class Parting(Trace):
    """Follows another way as long as it is the same."""

    def __init__(self, root, lines):
        super().__init__(root)
        self.lines = lines
        self.at = 0
        self.last = None
        self.parted = False
        self.codes = {}

    def heard(self, frame, event):
        if event not in _WAY or self.parted:
            return
        line = [event, frame.f_code.co_filename, frame.f_lineno]
        if self.at < len(self.lines) and self.lines[self.at] == line:
            self.at += 1
            self.last = frame, frame.f_lineno
            self.codes.setdefault(frame.f_code, frame.f_globals)
        else:
            self.parted = True

    def describe(self, root):
        if self.last is None or not (self.parted or self.at < len(self.lines)):
            return {"read": None, "cells": [], "wider": []}
        frame, line = self.last
        return {
            "read": _place(frame.f_code, line, root),
            "cells": _cells_of_line(frame, line),
            "wider": _cells_of_codes(self.codes),
        }


class Writes(Trace):
    """What changes certain cells, the last time that it does."""

    def __init__(self, root, cells):
        super().__init__(root)
        self.values = {cell: _shape(_resolve(cell)) for cell in map(tuple, cells)}
        self.first = dict(self.values)
        self.place = None
        self.found = {}
        self.test = None

    def heard(self, frame, event):
        self.compare()
        self.place = frame, frame.f_lineno

    def compare(self):
        for cell, before in self.values.items():
            now = _shape(_resolve(cell))
            if now == before:
                continue
            self.values[cell] = now
            if self.place is None:
                continue
            frame, line = self.place
            stack = traceback.walk_stack(frame)
            stack = [
                _place(one.f_code, line if one is frame else number, self.root)
                for one, number in stack
                if one.f_code.co_filename.startswith(self.root)
            ]
            self.found[cell] = {
                "cell": "%s.%s" % cell,
                "test": self.test,
                "before": before[:200],
                "after": now[:200],
                "stack": stack[:_MOST_FRAMES],
            }

    def describe(self):
        # What was put back again is no cause.
        return [found for cell, found in self.found.items() if self.values[cell] != self.first[cell]]


def _place(code, line, root):
    path = code.co_filename
    return {
        "file": os.path.relpath(path, str(root)),
        "line": line,
        "function": getattr(code, "co_qualname", code.co_name),
        "text": linecache.getline(path, line).strip(),
    }


def _statement(path, line):
    """The innermost statement that has a line."""
    try:
        tree = ast.parse("".join(linecache.getlines(path)))
    except (SyntaxError, ValueError):
        return None
    found = None
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or line):
            if found is None or node.lineno >= found.lineno:
                found = node
    return found


def _cells_of_line(frame, line):
    """Dotted names in the statement that begin at a global."""
    statement = _statement(frame.f_code.co_filename, line)
    if statement is None:
        return []
    module = frame.f_globals.get("__name__")
    cells = []
    body = getattr(statement, "body", [])
    parts = [node for node in ast.iter_child_nodes(statement) if node not in body]
    for node in [inner for part in parts for inner in ast.walk(part)]:
        names = []
        while isinstance(node, ast.Attribute):
            names.insert(0, node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id in frame.f_code.co_varnames:
            continue
        cell = (module, ".".join([node.id] + names))
        if cell not in cells and _is_state(_resolve(cell)):
            cells.append(cell)
    return cells[:_MOST_CELLS]


def _cells_of_codes(codes):
    """Globals that the test's code names, and names in its modules."""
    cells = []
    for code, names in codes.items():
        for name in code.co_names:
            if name in names and _is_state(names[name]):
                cells.append((names.get("__name__"), name))
            module = names.get(name)
            if isinstance(module, types.ModuleType):
                for inner in code.co_names:
                    if _is_state(vars(module).get(inner, _CODE[0])):
                        cells.append((module.__name__, inner))
    return list(dict.fromkeys(cells))[:_MOST_CELLS]


def _is_state(value):
    return not isinstance(value, _CODE) and value is not _MISSING


_MISSING = object()


def _resolve(cell):
    module, names = cell
    value = sys.modules.get(module, _MISSING)
    for name in names.split("."):
        inner = getattr(type(value), "__dict__", {}).get(name)
        if isinstance(inner, property):
            return _MISSING
        try:
            value = object.__getattribute__(value, name)
        except AttributeError:
            value = _of_class(value, name)
        if value is _MISSING:
            break
    return value


def _of_class(value, name):
    if not isinstance(value, type):
        return _MISSING
    for base in value.__mro__:
        if name in vars(base):
            return vars(base)[name]
    return _MISSING


def _shape(value, depth=4):
    """What a value holds, without running code of the program."""
    if value is _MISSING:
        return "nothing"
    kind = type(value)
    if kind in (int, float, complex, bool, str, bytes, type(None)):
        return repr(value)[:2000]
    if depth == 0 or isinstance(value, _CODE):
        return "%s at %x" % (kind.__name__, id(value))
    if kind in (list, tuple, set, frozenset):
        parts = [_shape(one, depth - 1) for one in list(value)[:200]]
        if kind in (set, frozenset):
            parts.sort()
        return "%s %d [%s]" % (kind.__name__, len(value), ", ".join(parts))
    if isinstance(value, dict):
        items = list(dict.items(value))[:200]
        parts = ["%s: %s" % (_shape(k, depth - 1), _shape(v, depth - 1)) for k, v in items]
        return "%s %d {%s}" % (kind.__name__, dict.__len__(value), ", ".join(parts))
    try:
        own = object.__getattribute__(value, "__dict__")
    except AttributeError:
        own = {}
    return "%s %s" % (kind.__name__, _shape(dict(own), depth - 1) if own else hex(id(value)))


def run_last(wish, root, run):
    """Run the test that is in question as `wish` has it; what was seen."""
    if wish["step"] == "way":
        with Way(root) as way:
            run()
        with open(wish["file"], "w") as file:
            json.dump(way.lines, file)
        return {}
    with open(wish["file"]) as file:
        lines = json.load(file)
    with Parting(root, lines) as parting:
        run()
    return parting.describe(root)
