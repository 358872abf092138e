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

from . import cells

# Lines of a test, cells that are compared after each line, frames of a stack.
_MOST_LINES = 200000
_MOST_CELLS = 60
_MOST_FRAMES = 12

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

    def __init__(self, root, lines, top):
        super().__init__(root)
        self.lines = lines
        # The folder that names of cells begin at.
        self.top = top
        self.at = 0
        self.last = None
        self.parted = False
        self.codes = {}

    def heard(self, frame, event):
        if event not in _WAY or self.parted:
            return
        line = [event, frame.f_code.co_filename, frame.f_lineno]
        if self.last is None and line in self.lines:
            # Alone it first sets up fixtures that others have set up here.
            self.at = self.lines.index(line)
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
            "cells": _cells_of_line(frame, line, self.top),
            "wider": _cells_of_codes(self.codes, self.top),
        }


class Writes(Trace):
    """What changes certain cells, the last time that it does."""

    def __init__(self, root, found):
        super().__init__(root)
        self.cells = found
        self.values = [cell.shape() for cell in found]
        self.first = list(self.values)
        self.place = None
        self.found = {}
        self.test = None

    def heard(self, frame, event):
        self.compare()
        self.place = frame, frame.f_lineno

    def compare(self):
        for at, cell in enumerate(self.cells):
            before, now = self.values[at], cell.shape()
            if now == before:
                continue
            self.values[at] = now
            if self.place is None:
                continue
            frame, line = self.place
            stack = traceback.walk_stack(frame)
            stack = [
                _place(one.f_code, line if one is frame else number, self.root)
                for one, number in stack
                if one.f_code.co_filename.startswith(self.root)
            ]
            name, before, now = _entry(cell.name, before, now)
            self.found[at] = {
                "cell": name,
                "test": self.test,
                "before": before[:200],
                "after": now[:200],
                "stack": stack[:_MOST_FRAMES],
            }

    def describe(self):
        # What was put back again is no cause.
        return [found for at, found in self.found.items() if self.values[at] != self.first[at]]


def _entry(name, before, now):
    """The entry of a dictionary, if only one is another."""
    (whole, entries), (whole_now, entries_now) = before, now
    if entries is not None and entries_now is not None:
        keys = entries.keys() | entries_now.keys()
        others = [key for key in keys if entries.get(key) != entries_now.get(key)]
        if len(others) == 1:
            key = others[0]
            was, now = entries.get(key, "nothing"), entries_now.get(key, "nothing")
            return "%s[%s]" % (name, key[:60]), was, now
    return name, whole, whole_now


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


def _cells_of_line(frame, line, top):
    """Dotted names in the statement that begin at a global."""
    statement = _statement(frame.f_code.co_filename, line)
    module = sys.modules.get(frame.f_globals.get("__name__"))
    found = []
    if statement is None or module is None:
        return []
    body = getattr(statement, "body", [])
    parts = [node for node in ast.iter_child_nodes(statement) if node not in body]
    for node in [inner for part in parts for inner in ast.walk(part)]:
        names = []
        while isinstance(node, ast.Attribute):
            names.insert(0, node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id in frame.f_code.co_varnames:
            continue
        names.insert(0, node.id)
        name = cells.name_of(module, names, top)
        if name not in found and cells.is_state(cells.resolve(module, names)):
            found.append(name)
    return found[:_MOST_CELLS]


def _cells_of_codes(codes, top):
    """Globals that the test's code names, and names in its modules."""
    found = []
    for code, names in codes.items():
        module = sys.modules.get(names.get("__name__"))
        if module is None:
            continue
        for name in code.co_names:
            if name in names and cells.is_state(names[name]):
                found.append(cells.name_of(module, [name], top))
            other = names.get(name)
            if isinstance(other, types.ModuleType):
                for inner in code.co_names:
                    if inner in vars(other) and cells.is_state(vars(other)[inner]):
                        found.append(cells.name_of(other, [inner], top))
    return list(dict.fromkeys(found))[:_MOST_CELLS]


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
    with Parting(root, lines, wish["root"]) as parting:
        run()
    return parting.describe(root)
