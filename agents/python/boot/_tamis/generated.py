"""Code that the program makes of text and runs: which names it spells.

Such code is in no file, so nobody can look them up later. It gets a number of
its own, under which it is heard wherever it runs, and a `g` record.
"""

from sys import version_info
from types import CodeType

from . import fingerprint

# By what code begins to run, or gets into a function.
EVENTS = ("exec", "function.__new__", "object.__setattr__")

_OPTIMIZED = 0x1

# What a text consists of that may be a name, a path of names or an annotation.
_NOT_LETTERS = str.maketrans("", "", "_.:[]|, ")
_LONGEST = 1000

version = version_info[:2]
# The newest whose operations were looked at.
_NEWEST = (3, 13)

# What of the standard library runs the code that it is given.
_RUNNERS = (
    "/bdb.py",
    "/cProfile.py",
    "/code.py",
    "/pdb.py",
    "/profile.py",
    "/profiling/tracing/__init__.py",
    "/runpy.py",
    "/timeit.py",
    "/trace.py",
)

# For any name that may be reached.
_ANY = "globals"


class Generated:
    """Tells of each piece of code once."""

    def __init__(self, agent):
        self._agent = agent
        # (Who ran it, what is in it) -> its number.
        self._known = {}
        self._operations = self._variable = None

    def on_event(self, event, arguments, frame):
        code = arguments[0]
        if event == "object.__setattr__":
            code = arguments[2] if arguments[1] == "__code__" else None
        if not isinstance(code, CodeType):
            return
        frame, is_direct = self._programs(frame)
        if frame is None:
            return
        paths = self._agent.paths
        name = code.co_filename
        if name.endswith(".py") and paths.code_file(name) is not None:
            # Under the name of a source it is held against that.
            return
        self._tell(code, paths.code_file(frame.f_code.co_filename) or "")
        if is_direct and event == "exec" and not frame.f_code.co_flags & _OPTIMIZED:
            # It may bind names of a module, or of a class.
            self._agent.note("names", "*")

    def _programs(self, frame):
        """`(frame, is_direct)`: the frame of the program in which the event
        happens, or which had an installed package do it; `None` if there is none."""
        paths = self._agent.paths
        is_direct = True
        while frame is not None:
            name = frame.f_code.co_filename
            actor = paths.actor(name)
            if actor == "other":
                is_text = name[:1] == "<" and not name.startswith("<frozen ")
                if is_text or paths.code_file(name) is not None:
                    return frame, is_direct
                is_direct = False
            elif actor == "stdlib" and name.endswith(_RUNNERS):
                is_direct = False
            elif actor != "agent":
                break
            frame = frame.f_back
        return None, False

    def _tell(self, code, by):
        codes, contents = self._look_into(code)
        key = (by, contents)
        agent = self._agent
        with agent.lock:
            told = self._known.get(key)
            if told is None:
                text = "\0".join([by, *("\1".join(sorted(part)) for part in contents)])
                digest = fingerprint.of_bytes(text.encode("utf-8", "surrogatepass"), "r")
            else:
                digest = told
            number = None
            for each in codes:
                number = agent.collector.adopt(each, digest)
            if told is None:
                self._known[key] = digest
                agent.trace.write("g", number, by, *map(sorted, contents))

    def _look_into(self, code):
        """The code objects in `code`, itself first, and `(attributes, variables,
        texts, modules imported as a whole, modules that names are imported
        from)`."""
        operation = self._operations or self._learn_operations()
        attributes, variables, texts, imports, sources = found = [set() for _ in range(5)]
        codes = [code]
        for each in codes:
            # Two bytes each: the operation, and its argument.
            whole = each.co_code
            operations = whole[::2]
            known = each.co_names
            attributes.update(known)
            variables.update(self._variables(known, operations, whole[1::2]))
            at = operations.find(operation["IMPORT_NAME"])
            while at >= 0:
                index = whole[2 * at + 1]
                if at and operations[at - 1 : at] == operation["EXTENDED_ARG"]:
                    index |= whole[2 * at - 1] << 8
                is_source = operations[at + 1 : at + 2] == operation["IMPORT_FROM"]
                into = sources if is_source else imports
                into.add(known[index] if index < len(known) else "")
                at = operations.find(operation["IMPORT_NAME"], at + 1)
            if operation["STORE_GLOBAL"] in operations or operation["DELETE_GLOBAL"] in operations:
                variables.add(_ANY)
            self._look_at(each.co_consts, codes, texts)
        attributes -= variables
        return codes, tuple(map(frozenset, found))

    def _learn_operations(self):
        from opcode import hasname, opmap

        wanted = ("IMPORT_NAME", "IMPORT_FROM", "EXTENDED_ARG", "STORE_GLOBAL", "DELETE_GLOBAL")
        self._operations = {name: bytes([opmap[name]]) for name in wanted}
        # Of what reads or binds variables: how many bits of the argument are flags.
        flags = {"LOAD_GLOBAL": 1} if version >= (3, 11) else {}
        self._variable = {
            opmap[name]: flags.get(name, 0)
            for name in opmap
            if opmap[name] in hasname
            and not name.startswith("IMPORT_")
            and not name.endswith(("_ATTR", "_METHOD"))
        }
        return self._operations

    def _variables(self, known, operations, arguments):
        """Those of the names `known` that are variables; maybe others."""
        if self._operations["EXTENDED_ARG"] in operations or version > _NEWEST:
            return known
        flags = self._variable
        indexes = {
            argument >> flags[operation]
            for operation, argument in zip(operations, arguments)
            if operation in flags
        }
        return [known[index] for index in indexes if index < len(known)]

    def _look_at(self, constants, codes, texts):
        rest = [constants]
        for items in rest:
            for item in items:
                kind = type(item)
                if kind is str:
                    if _may_name(item):
                        texts.add(item)
                elif kind is tuple or kind is frozenset:
                    rest.append(item)
                elif kind is CodeType:
                    codes.append(item)


def _may_name(text):
    if not text or len(text) > _LONGEST:
        return False
    return text.translate(_NOT_LETTERS).isalnum() or "{" in text or "%(" in text
