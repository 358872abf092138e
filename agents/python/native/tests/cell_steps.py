"""What the tests of `cells` run in processes of their own."""

import types

import _tamis_native as native


def taken(value, other=None):
    """What a module's only global has: bytes, or why it is opaque."""
    module = types.ModuleType("m")
    module.x = value
    if other is not None:
        module.y = other
    return native.cells((("m", module),))["m"]["x"]


def value(object):
    found = taken(object)
    assert isinstance(found, bytes), found
    return found[:16]


def module(source, name="program", file=None):
    """A module that runs `source`; its code has lines in `file`."""
    import sys

    made = types.ModuleType(name)
    if file is not None:
        with open(file, "w", encoding="utf-8") as out:
            out.write(source)
    sys.modules[name] = made
    exec(compile(source, file or "<none>", "exec"), made.__dict__)
    return made


def cells(made):
    return native.cells(((made.__name__, made),))


def flat(made):
    return {
        (label, key): found
        for label, keys in cells(made).items()
        for key, found in keys.items()
    }


def differences(one, other):
    """Keys of the cells that differ between two modules."""
    one, other = flat(one), flat(other)
    return sorted(
        "%s.%s" % key if key[1] is not None else "%s." % key[0]
        for key in one.keys() | other.keys()
        if one.get(key) != other.get(key)
    )


