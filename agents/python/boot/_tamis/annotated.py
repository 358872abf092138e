"""Names in the text of annotations: who evaluates such text reads what they mean.

That is the text of annotations themselves, and any other that types are made of
(`Optional["Node"]`, `TypeVar("T", bound="Node")`, `Alias = "Node"`). And names that are annotated: who
reads the annotations of a class may ask it for the members that these are about.

PYTEST_DONT_REWRITE
"""

import ast
import gc
import re
import sys
import types

from .watch import is_a

_WORDS = re.compile(r"[^\W\d]\w*")
_TYPES_OF_TEXT = tuple(
    kind for kind in (getattr(types, "GenericAlias", None),) if isinstance(kind, type)
)


class Annotated:
    """Which names such text has, of a session."""

    def __init__(self, is_own):
        # Whether a function or class is the project's.
        self._is_own = is_own
        # By path: what the source has.
        self._sources = {}

    def spelled(self, wanted, paths):
        """Those of the `wanted` names that are in such text, of sources and of objects; and those that
        are annotated, or in such text in small letters."""
        looked = InMemory(wanted, self._is_own)
        found, annotated = looked.names, looked.annotated
        for path in paths:
            missing = wanted - (found & annotated)
            if not missing:
                break
            source = self._sources.get(path)
            if source is None:
                source = self._sources[path] = Source(path)
            found |= source.spelled(missing)
            annotated |= source.annotated(missing)
        return found, annotated


class Source:
    """One source: it is read once, and parsed if it has a word that somebody looks for."""

    def __init__(self, path):
        self._path = path
        # `None` if nobody knows.
        self._words = None
        # Names in text, and annotated ones; `False` if nobody knows.
        self._names = self._annotated = None
        try:
            with open(path, "rb") as file:
                source = file.read()
        except OSError:
            return
        if source.isascii():
            words = frozenset(map(sys.intern, _WORDS.findall(source.decode())))
            self._words = words.union(map(str.lower, words))

    def spelled(self, wanted):
        """Those of the `wanted` names that it may have in such text."""
        if not self._looks_for(wanted):
            return frozenset()
        return wanted & self._names if self._names is not False else wanted

    def annotated(self, wanted):
        """Those that it may annotate."""
        if not self._looks_for(wanted):
            return frozenset()
        return wanted & self._annotated if self._annotated is not False else wanted

    def _looks_for(self, wanted):
        if self._words is not None and wanted.isdisjoint(self._words):
            return False
        if self._names is None:
            self._parse()
        return True

    def _parse(self):
        try:
            with open(self._path, "rb") as file:
                tree = ast.parse(file.read())
        except (OSError, SyntaxError, ValueError, RecursionError):
            # Nobody knows what it says.
            self._names = self._annotated = False
            return
        reader = _Reader()
        reader.statements(tree.body, False)
        self._names = frozenset(reader.names)
        self._annotated = frozenset(reader.annotated).union(map(str.lower, self._names))


class _Reader:
    """Collects the names in such text of one source."""

    def __init__(self):
        self.names = set()
        self.annotated = set()

    def _text(self, text):
        self.names.update(map(sys.intern, _WORDS.findall(text)))

    def statements(self, body, in_function):
        waiting = [(node, in_function) for node in body]
        while waiting:
            node, in_function = waiting.pop()
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                arguments = node.args
                every = arguments.args + arguments.kwonlyargs
                every += getattr(arguments, "posonlyargs", [])
                every += [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
                self._all_of([one.annotation for one in every] + [node.returns])
                self.annotated.update(sys.intern(one.arg) for one in every if one.annotation)
                inside = [arguments, *node.decorator_list, *getattr(node, "type_params", ())]
                waiting.extend((one, in_function) for one in inside)
                waiting.extend((one, True) for one in _without_docstring(node.body))
                continue
            if isinstance(node, ast.AnnAssign):
                self._all_of([node.annotation])
                if isinstance(node.target, ast.Name):
                    self.annotated.add(sys.intern(node.target.id))
            elif isinstance(node, ast.Subscript):
                # What a function makes of text are types all the same.
                self._all_of([node.slice], ast.Constant)
            elif isinstance(node, ast.ClassDef):
                inside = [*node.bases, *node.keywords, *node.decorator_list]
                inside += [*getattr(node, "type_params", ()), *_without_docstring(node.body)]
                waiting.extend((one, in_function) for one in inside)
                continue
            elif not in_function and isinstance(node, ast.Constant) and isinstance(node.value, str):
                self._text(node.value)
            waiting.extend((one, in_function) for one in ast.iter_child_nodes(node))

    def _all_of(self, expressions, kinds=ast.AST):
        """What these spell, as names or in text."""
        for expression in expressions:
            for node in ast.walk(expression) if expression is not None else ():
                if not isinstance(node, kinds):
                    continue
                if isinstance(node, ast.Name):
                    self._text(node.id)
                elif isinstance(node, ast.Attribute):
                    self._text(node.attr)
                elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                    self._text(node.value)


class InMemory:
    """Which of the `wanted` names objects hold in such text, however that was made."""

    def __init__(self, wanted, is_own):
        self._wanted = wanted
        self._is_own = is_own
        self.names = set()
        # Later versions evaluate the source when somebody asks.
        self.annotated = set(wanted) if sys.version_info >= (3, 14) else set()
        self._look_around()

    def _text(self, text):
        self.names.update(self._wanted.intersection(_WORDS.findall(text)))

    def _look_around(self):
        forward = getattr(sys.modules.get("typing"), "ForwardRef", None)
        for value in gc.get_objects():
            kind = type(value)
            if kind is types.FunctionType and sys.version_info < (3, 14):
                # Later ones evaluate the source.
                noted = value.__annotations__
                self._texts(noted.values())
                self._note(value, noted)
            elif kind is forward:
                self._text(value.__forward_arg__)
            elif kind in _TYPES_OF_TEXT:
                self._texts(value.__args__)
            elif isinstance(kind, type) and issubclass(kind, type):
                noted = type.__dict__["__dict__"].__get__(value).get("__annotations__")
                if type(noted) is dict:
                    self._texts(noted.values())
                    self._note(value, noted)

    def _note(self, value, annotations):
        """What is annotated in the project, and the words of its annotations."""
        if annotations and self._is_own(value):
            words = [name for name in annotations if type(name) is str]
            for text in annotations.values():
                if is_a(text, type):
                    text = type.__dict__["__name__"].__get__(text)
                words += map(str.lower, _WORDS.findall(text) if type(text) is str else ())
            self.annotated.update(self._wanted.intersection(words))

    def _texts(self, values):
        for value in list(values):
            if type(value) is str:
                self._text(value)


def _without_docstring(body):
    first = body[0] if body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        return body[1:]
    return body
