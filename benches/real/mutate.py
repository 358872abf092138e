"""Seeded mutants of Python source: small edits, each at one place.

A mutant is in the zone `body` (inside a function body) or `skeleton` (what
runs at import: signatures, decorators, class bodies, module statements).
"""

import ast
import copy
import hashlib
import random
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path

COMPARE = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE,
    ast.LtE: ast.Gt, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}
BINARY = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.Mod: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr, ast.LShift: ast.RShift,
    ast.RShift: ast.LShift, ast.Pow: ast.Mult, ast.BitXor: ast.BitOr,
}
NOT_EMPTY = {str: "X", bytes: b"X"}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINITIONS = (*FUNCTIONS, ast.ClassDef)


@dataclass(frozen=True)
class Mutant:
    path: str
    """Relative to the top of the work tree."""
    line: int
    zone: str
    operator: str
    start: int
    end: int
    """The bytes of the file that `text` replaces."""
    text: str
    before: str
    """The first line of the replaced text, for people."""

    @property
    def id(self):
        key = f"{self.path}:{self.start}:{self.end}:{self.text}"
        return hashlib.sha1(key.encode()).hexdigest()[:10]

    def apply(self, source):
        return source[: self.start] + self.text.encode() + source[self.end :]

    def to_json(self):
        return {"id": self.id, **asdict(self)}


def choose(tree, paths, count, seed, skeleton_share):
    """`count` different mutants of the files `paths` of a work tree. The first ones stay the
    same when `count` grows. An operator is drawn with a chance that grows as the square root
    of its number of places, so that rare ones also occur; then one of its places is drawn."""
    sources = {path: (Path(tree) / path).read_bytes() for path in paths}
    places = {"body": {}, "skeleton": {}}
    for path in sorted(sources):
        for mutant in all_mutants(path, sources[path]):
            places[mutant.zone].setdefault(mutant.operator, []).append(mutant)
    rng = random.Random(seed)
    chosen, skeletons = [], 0
    while len(chosen) < count and any(places.values()):
        zone = "skeleton" if skeletons < skeleton_share * (len(chosen) + 1) else "body"
        if not places[zone]:
            zone = "body" if zone == "skeleton" else "skeleton"
        operators = sorted(places[zone])
        weights = [len(places[zone][operator]) ** 0.5 for operator in operators]
        operator = rng.choices(operators, weights)[0]
        left = places[zone][operator]
        mutant = left.pop(rng.randrange(len(left)))
        if not left:
            del places[zone][operator]
        if is_real_change(sources[mutant.path], mutant):
            chosen.append(mutant)
            skeletons += zone == "skeleton"
    return chosen


def is_real_change(source, mutant):
    """Whether the mutant compiles, and differs in more than formatting."""
    changed = mutant.apply(source)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(changed, mutant.path, "exec", dont_inherit=True)
            return ast.dump(ast.parse(changed)) != ast.dump(ast.parse(source))
        except (SyntaxError, ValueError):
            return False


def all_mutants(path, source):
    finder = Finder(path, source)
    finder.visit(ast.parse(source))
    return finder.found


class Finder(ast.NodeVisitor):
    """Visits a module and collects all mutants of the operators."""

    def __init__(self, path, source):
        self.path = path
        self.source = source
        self.starts = [0]
        for line in source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.found = []
        self.functions = 0
        self.classes = [False]

    # places in the file

    def at(self, line, column):
        return self.starts[line - 1] + column

    def span(self, node):
        return self.at(node.lineno, node.col_offset), self.at(node.end_lineno, node.end_col_offset)

    def text(self, node):
        start, end = self.span(node)
        return self.source[start:end].decode()

    def add(self, operator, start, end, text):
        line = self.source.count(b"\n", 0, start) + 1
        before = self.source[start:end] or self.source[start:].splitlines()[0]
        before = before.decode(errors="replace").strip().splitlines()[0][:80]
        zone = "body" if self.functions else "skeleton"
        self.found.append(Mutant(self.path, line, zone, operator, start, end, text, before))

    def replace(self, operator, node, text):
        self.add(operator, *self.span(node), text)

    # what is inside of what

    def visit_function(self, node):
        self.definition(node)
        for part in (*node.decorator_list, *signature(node)):
            self.visit(part)
        self.signature_mutants(node)
        self.functions += 1
        self.classes.append(False)
        self.early_exits(node)
        self.statements(node.body)
        self.classes.pop()
        self.functions -= 1

    visit_FunctionDef = visit_function
    visit_AsyncFunctionDef = visit_function

    def visit_Lambda(self, node):
        for part in signature(node):
            self.visit(part)
        self.functions += 1
        self.visit(node.body)
        self.functions -= 1

    def visit_ClassDef(self, node):
        self.definition(node)
        for part in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(part)
        self.base_mutants(node)
        self.classes.append(True)
        self.statements(node.body)
        self.classes.pop()

    def generic_visit(self, node):
        for name, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                self.statements(value)
            elif isinstance(value, list):
                for part in value:
                    if isinstance(part, ast.AST):
                        self.visit(part)
            elif isinstance(value, ast.AST) and name != "annotation":
                self.visit(value)

    def visit_JoinedStr(self, node):
        """Before 3.12, positions inside an f-string are not those of the file."""

    def visit_If(self, node):
        if ast.unparse(node.test).endswith("TYPE_CHECKING"):
            return self.statements(node.orelse)
        self.condition(node)
        return self.generic_visit(node)

    # operators on statements

    def statements(self, body):
        for number, statement in enumerate(body):
            if number == 0 and is_docstring(statement):
                continue
            self.deletion(statement)
            self.visit(statement)

    def deletion(self, statement):
        if isinstance(statement, (ast.Pass, *DEFINITIONS)) or is_future(statement):
            return
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            operator = "import removed"
        elif self.classes[-1] and isinstance(statement, (ast.Assign, ast.AnnAssign)):
            operator = "class attribute removed"
        else:
            operator = "statement removed"
        self.replace(operator, statement, "pass")

    def definition(self, node):
        """Removal of a definition, and of each of its decorators."""
        first = min([node.lineno] + [part.lineno for part in node.decorator_list])
        start = self.at(first, node.col_offset)
        self.add("definition removed", start, self.span(node)[1], "pass")
        for decorator in node.decorator_list:
            begin = self.source.rindex(b"@", 0, self.span(decorator)[0])
            self.add("decorator removed", begin, self.span(decorator)[1], "")

    def early_exits(self, node):
        body = node.body[1:] if is_docstring(node.body[0]) else node.body
        if not body or body[0].lineno == node.lineno:
            return
        start = self.at(min([body[0].lineno] + decorator_lines(body[0])), body[0].col_offset)
        indent = "\n" + " " * body[0].col_offset
        self.add("early return", start, start, f"return None{indent}")
        self.add("early raise", start, start, f"raise RuntimeError('mutant'){indent}")

    def signature_mutants(self, node):
        arguments = node.args
        for default in (*arguments.defaults, *(d for d in arguments.kw_defaults if d)):
            other = "0" if is_none(default) else "None"
            self.replace("default changed", default, other)
        positional = (*arguments.posonlyargs, *arguments.args)
        pairs = list(zip(reversed(positional), reversed(arguments.defaults)))
        pairs += [(a, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults) if d]
        for argument, default in pairs:
            self.add("default removed", self.span(argument)[1], self.span(default)[1], "")

    def base_mutants(self, node):
        for base in node.bases:
            rest = [self.text(other) for other in node.bases if other is not base]
            start, end = self.span(node.bases[0])[0], self.span(node.bases[-1])[1]
            self.add("base class removed", start, end, ", ".join(rest) or "object")

    def visit_Return(self, node):
        if node.value is not None:
            self.replace("return value", node, "return 0" if is_none(node.value) else "return None")
        self.generic_visit(node)

    def visit_ExceptHandler(self, node):
        if node.type is not None:
            self.replace("exception type", node.type, "ZeroDivisionError")
        self.generic_visit(node)

    # operators on expressions

    def visit_Constant(self, node):
        value = node.value
        if value is True or value is False:
            self.replace("boolean", node, repr(not value))
        elif isinstance(value, (int, float)):
            self.replace("number", node, repr(value + 1))
        elif isinstance(value, (str, bytes)):
            self.replace("string", node, repr(value[:-1] or NOT_EMPTY[type(value)]))

    def visit_Compare(self, node):
        for number, operator in enumerate(node.ops):
            other = copy.deepcopy(node)
            other.ops[number] = COMPARE[type(operator)]()
            self.replace("comparison", node, ast.unparse(other))
        self.generic_visit(node)

    def visit_BinOp(self, node):
        if type(node.op) in BINARY:
            other = copy.deepcopy(node)
            other.op = BINARY[type(node.op)]()
            self.replace("arithmetic", node, f"({ast.unparse(other)})")
        self.generic_visit(node)

    def visit_BoolOp(self, node):
        other = copy.deepcopy(node)
        other.op = ast.And() if isinstance(node.op, ast.Or) else ast.Or()
        self.replace("and/or", node, f"({ast.unparse(other)})")
        self.generic_visit(node)

    def visit_UnaryOp(self, node):
        if isinstance(node.op, ast.Not):
            self.replace("not removed", node, f"({self.text(node.operand)})")
        self.generic_visit(node)

    def condition(self, node):
        self.replace("condition negated", node.test, f"(not ({self.text(node.test)}))")

    def visit_While(self, node):
        self.condition(node)
        self.generic_visit(node)

    def visit_IfExp(self, node):
        self.condition(node)
        self.generic_visit(node)

    def visit_Call(self, node):
        for keyword in node.keywords:
            if keyword.arg is not None:
                other = copy.deepcopy(node)
                other.keywords = [k for k in other.keywords if k.arg != keyword.arg]
                self.replace("argument removed", node, ast.unparse(other))
        self.generic_visit(node)


def signature(node):
    arguments = node.args
    return [part for part in (*arguments.defaults, *arguments.kw_defaults) if part is not None]


def decorator_lines(node):
    return [part.lineno for part in getattr(node, "decorator_list", [])]


def is_docstring(node):
    value = getattr(node, "value", None)
    return isinstance(node, ast.Expr) and isinstance(value, ast.Constant) and isinstance(value.value, str)


def is_future(node):
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def is_none(node):
    return isinstance(node, ast.Constant) and node.value is None
