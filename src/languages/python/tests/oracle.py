"""Tells what CPython itself makes of the modules of its standard library.

    python oracle.py MODE EVERY

writes one JSON object a line for every EVERYth module (of the top level only,
unless EVERY is 0: then for all modules in all packages). MODE:

codes     all code objects: first line, name, and the qualified name of the
          outermost function that they belong to (null for none)
unparse   the module as `ast.unparse` formats it
reformat  the module with other indentation, quotes, blank lines, comments
mutate    edits of one function's body, of a signature, of a class, each
          beside the module without that edit
"""
import ast
import io
import json
import os
import random
import sys
import tokenize
import warnings

BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def modules(every):
    top = os.path.dirname(os.__file__)
    if every == 0:
        for folder, folders, names in os.walk(top):
            folders[:] = sorted(set(folders) - {"site-packages", "__pycache__"})
            yield from (os.path.join(folder, n) for n in sorted(names) if n.endswith(".py"))
    else:
        names = sorted(n for n in os.listdir(top) if n.endswith(".py"))
        yield from (os.path.join(top, n) for n in names[::every])


def outermost(nodes, prefix="", hidden=()):
    """(node, qualified name) of each function that no function contains."""
    for node in nodes:
        if isinstance(node, FUNCTIONS):
            yield node, node.name if node.name in hidden else prefix + node.name
        elif isinstance(node, ast.ClassDef):
            name = node.name if node.name in hidden else prefix + node.name
            names = {n for s in at_level(node.body) if isinstance(s, ast.Global) for n in s.names}
            yield from outermost(node.body, name + ".", names)
        else:
            for block in BLOCKS:
                inner = getattr(node, block, None)
                if isinstance(inner, list):
                    yield from outermost(inner, prefix, hidden)


def at_level(nodes):
    for node in nodes:
        yield node
        if not isinstance(node, FUNCTIONS + (ast.ClassDef,)):
            for block in BLOCKS:
                inner = getattr(node, block, None)
                if isinstance(inner, list):
                    yield from at_level(inner)


def codes(source, path):
    defs = {}
    for node, name in outermost(ast.parse(source).body):
        line = node.decorator_list[0].lineno if node.decorator_list else node.lineno
        defs[line, node.name] = name
    found = []

    def walk(code, unit):
        for child in code.co_consts:
            if not hasattr(child, "co_firstlineno"):
                continue
            inner = unit
            place = child.co_firstlineno, child.co_name
            if unit is None and child.co_flags & 1 and place in defs:
                inner = defs[place]
                qualified = getattr(child, "co_qualname", inner)
                assert qualified == inner, (path, qualified, inner)
            found.append([place[0], place[1], inner])
            walk(child, inner)

    module = compile(source, path, "exec", dont_inherit=True)
    found.append([module.co_firstlineno, module.co_name, None])
    walk(module, None)
    return {"codes": found}


def same(one, other):
    return ast.dump(ast.parse(one)) == ast.dump(ast.parse(other))


def unparse(source, path):
    text = ast.unparse(ast.parse(source))
    return {"text": text} if same(source, text) else None


def reformat(source, path):
    encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
    lines = io.StringIO(source.decode(encoding)).readlines()
    starts, ends, fresh = set(), set(), True
    for kind, text, (row, col), (end, after), _ in tokenize.tokenize(io.BytesIO(source).readline):
        if kind == tokenize.NEWLINE:
            ends.add(row)
            fresh = True
        elif kind in (tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT,
                      tokenize.ENCODING, tokenize.ENDMARKER):
            continue
        elif fresh:
            starts.add(row)
            fresh = False
        if kind == tokenize.STRING and row == end and len(text) > 2:
            inner = text[1:-1]
            if text[0] in "'\"" and not set(inner) & set("'\"\\"):
                quote = "'" if text[0] == '"' else '"'
                line = lines[row - 1]
                lines[row - 1] = line[:col] + quote + inner + quote + line[after:]
    out = []
    for row, line in enumerate(lines, 1):
        if row in starts:
            indent = line[: len(line) - len(line.lstrip())]
            out.append("# a comment\n\n")
            line = indent + line
        if row in ends:
            line = line.rstrip("\r\n") + "  # and another\n"
        out.append(line)
    text = "# -*- coding: utf-8 -*-\n" + "".join(out)
    return {"text": text} if same(source, text) else None


def mutate(source, path):
    choose = random.Random(os.path.basename(path))
    tree = ast.parse(source)
    base = ast.unparse(tree)
    found = [(node, name) for node, name in outermost(tree.body)]
    if not same(source, base) or not found:
        return None
    edits = []

    def edit(kind, unit, owner, field, at, node):
        items = getattr(owner, field)
        items.insert(at, node)
        edits.append([kind, unit, ast.unparse(tree)])
        del items[at]

    def pick():
        return choose.choice(found)

    def has_docstring(node):
        return ast.get_docstring(node, clean=False) is not None

    call = ast.parse("_mutant(1)").body[0]
    for _ in range(4):
        node, name = pick()
        first = 1 if has_docstring(node) else 0
        edit("body", name, node, "body", choose.randint(first, len(node.body)), call)
        node, name = pick()
        edit("skeleton", name, node, "decorator_list", 0, call.value)
        node, name = pick()
        node.args.kwonlyargs.append(ast.arg("_mutant", None))
        edit("skeleton", name, node.args, "kw_defaults", len(node.args.kw_defaults), call.value)
        node.args.kwonlyargs.pop()
    classes = [n for n in at_level(tree.body) if isinstance(n, ast.ClassDef)]
    for node in classes[:2]:
        at = choose.randint(1, len(node.body))
        edit("skeleton", None, node, "body", at, call)
        edit("skeleton", None, node, "bases", 0, call.value)
    edit("skeleton", None, tree, "body", len(tree.body), call)
    return {"base": base, "edits": edits}


def main():
    mode, every = globals()[sys.argv[1]], int(sys.argv[2])
    warnings.simplefilter("ignore")
    sys.setrecursionlimit(20000)
    for path in modules(every):
        with open(path, "rb") as file:
            source = file.read()
        try:
            compile(source, path, "exec", dont_inherit=True)
        except (SyntaxError, ValueError):
            # CPython's own test data holds broken modules.
            print(json.dumps({"path": path, "broken": True}))
            continue
        result = mode(source, path)
        print(json.dumps(dict(result or {"unfaithful": True}, path=path)))


main()
