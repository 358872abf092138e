//! Libraries whose state is another in each process, or cannot be told.

use crate::harness::*;

cases!(
    left_alone,
    changed_by_project,
    told_at_import,
    changed_between,
    changed_meanwhile,
    asked_by_library,
    deleted,
    behind_an_object_of_c,
    in_a_queue,
    restored,
    seeded,
    no_module
);

/// A library of which much differs in each process.
const NOISY: &str = r#"
import io
import os
import queue
import random
import re

TOKEN = os.urandom(8)
GENERATOR = random.Random()
OPENED = open(__file__)
OPENED.close()
LINES = (line for line in "abc")
SCANNER = re.compile("a").scanner("a")
QUEUE = queue.SimpleQueue()
NUMBERS = {id(object()): 1}
PLACES = {}
MODE = os.environ.get("NOISY_MODE")


class Buffer(io.StringIO):
    mode = 0


BUFFER = Buffer()


class Girth:
    token = os.urandom(8)
    altitude = 1


def place(key):
    return PLACES.get(key, 0)
"#;

/// Another one, which changes the first when it is imported.
const LOUD: &str = r#"
import os

import noisy

noisy.LOUD = os.urandom(8)
noisy.NUMBERS[id(noisy)] = object()
"#;

fn case(core: &str, test: &str) -> Case {
    let text = format!(
        "-- core.py --\n{core}\n\nclass Own:\n    altitude = 1\n\n\ndef other():\n    return 7\n\
         -- test_core.py --\nimport core\n\n\ndef test_altitude():\n    \
         assert core.Own.altitude == 1\n\n\ndef test_noisy():\n    assert {test}\n\n\n\
         def test_other():\n    assert core.other() == 7\n"
    );
    Case::new(text)
        .own_venv()
        .setup([
            install("noisy", "1.0.0", &[("noisy.py", NOISY)]),
            install("loud", "1.0.0", &[("loud.py", LOUD)]),
        ])
        .by_value()
}

/// The project imports the libraries and leaves them alone.
fn left_alone() -> Case {
    let core = "import noisy\nimport loud\nimport noisy as same\n";
    case(core, "core.same.place('b') == 0")
        .edit(
            "the same value in another way",
            [replace("core.py", "altitude = 1", "altitude = len('a')")],
            NONE,
        )
        .edit(
            "another value",
            [replace("core.py", "altitude = 1", "altitude = len('ab')")],
            ["! test_core.py::test_altitude"],
        )
}

/// Who reads what the project registered is not known, so all that need it count.
const OTHERS: [&str; 2] = ["test_core.py::test_altitude", "test_core.py::test_other"];

/// It registers something, which counts by value.
fn changed_by_project() -> Case {
    let core = "import noisy\nimport loud\n\nnoisy.PLACES['a'] = len('a')\n";
    case(core, "core.noisy.place('a') == 1")
        .edit(
            "the same in another way",
            [replace("core.py", "len('a')", "len('b')")],
            NONE,
        )
        .edit(
            "something else",
            [replace("core.py", "len('a')", "len('ab')")],
            between(["! test_core.py::test_noisy"], OTHERS),
        )
}

/// What an import found in the environment, though it is not there any more.
fn told_at_import() -> Case {
    let core = "import os\n\nos.environ['NOISY_MODE'] = 'a' * len('b')\nimport noisy\n\n\
                del os.environ['NOISY_MODE']\n";
    case(core, "core.noisy.MODE == 'a'").edit(
        "another environment while it is imported",
        [replace("core.py", "len('b')", "len('bc')")],
        between(["! test_core.py::test_noisy"], OTHERS),
    )
}

/// Between two imports the project changes the first library; or a module of the project that the
/// second one imports does.
fn changed_between() -> Case {
    let core = "import noisy\nnoisy.PLACES['a'] = len('a')\nimport loud\n";
    case(core, "core.noisy.place('a') == 1").edit(
        "something else",
        [replace("core.py", "len('a')", "len('ab')")],
        between(["! test_core.py::test_noisy"], OTHERS),
    )
}

fn changed_meanwhile() -> Case {
    let core = "import asking\nimport noisy\n";
    case(core, "core.noisy.place('a') == 1")
        .setup([
            install(
                "asking",
                "1.0.0",
                &[("asking.py", "import noisy\nimport added\nimport loud\n")],
            ),
            write("added.py", "import noisy\n\nnoisy.PLACES['a'] = len('a')\n"),
        ])
        .edit(
            "something else",
            [replace("added.py", "len('a')", "len('ab')")],
            between(["! test_core.py::test_noisy"], OTHERS),
        )
}

/// The project deletes something, or changes what Python holds behind an object of C.
fn deleted() -> Case {
    let core =
        "import noisy\n\nif len('a') == 2:\n    del noisy.SCANNER\n    del noisy.Girth.altitude\n";
    case(
        core,
        "(hasattr(core.noisy, 'SCANNER'), hasattr(core.noisy.Girth, 'altitude')) == (True, True)",
    )
    .edit(
        "it is gone",
        [replace("core.py", "len('a')", "len('ab')")],
        between(["! test_core.py::test_noisy"], OTHERS),
    )
}

fn behind_an_object_of_c() -> Case {
    let core = "import noisy\n\nnoisy.BUFFER.mode = len('a')\nnoisy.QUEUE.put(len('a'))\n";
    case(
        core,
        "(core.noisy.BUFFER.mode, core.noisy.QUEUE.get()) == (1, 1)",
    )
    .edit(
        "another value",
        [replace("core.py", "len('a')\nnoisy", "len('ab')\nnoisy")],
        between(["! test_core.py::test_noisy"], OTHERS),
    )
}

fn in_a_queue() -> Case {
    let core = "import noisy\n\nnoisy.QUEUE.put(len('a'))\n";
    case(core, "core.noisy.QUEUE.get() == 1").edit(
        "another value",
        [replace("core.py", "len('a')", "len('ab')")],
        at_least(["! test_core.py::test_noisy"]),
    )
}

/// What an import finds in another library, or draws, though it is as before in the end.
fn restored() -> Case {
    let core = "import noisy\n\nnoisy.PLACES['a'] = len('a')\nimport seen\n\n\
                del noisy.PLACES['a']\n";
    case(core, "core.seen.SEEN == 1")
        .setup([install(
            "seen",
            "1.0.0",
            &[(
                "seen.py",
                "import noisy\n\nTOKEN = noisy.os.urandom(8)\nSEEN = noisy.place('a')\n",
            )],
        )])
        .edit(
            "it was another value meanwhile",
            [replace("core.py", "len('a')", "len('ab')")],
            between(["! test_core.py::test_noisy"], OTHERS),
        )
}

fn seeded() -> Case {
    let core = "import random\n\nrandom.seed(len('a'))\nimport drawn\nimport noisy\n\n\
                random.seed(0)\n";
    case(core, "core.drawn.NUMBER")
        .setup([install(
            "drawn",
            "1.0.0",
            &[(
                "drawn.py",
                "import os\nimport random\n\nTOKEN = os.urandom(8)\n\
                 NUMBER = random.getrandbits(1000) == random.Random(1).getrandbits(1000)\n",
            )],
        )])
        .edit(
            "another seed meanwhile",
            [replace("core.py", "len('a')", "len('ab')")],
            between(["! test_core.py::test_noisy"], OTHERS),
        )
}

/// A library reads a file of the project, or runs code of it, when it is imported.
fn asked_by_library() -> Case {
    let core = "import girth\n\n\ndef told():\n    return 4\n\n\ngirth.ASK.append(told)\nimport altitude\n";
    case(
        core,
        "(core.altitude.SIZE, core.altitude.TOLD) == ('3', [4])",
    )
    .setup([
        install("girth", "1.0.0", &[("girth.py", "ASK = []\n")]),
        install(
            "altitude",
            "1.0.0",
            &[(
                "altitude.py",
                "import os\n\nimport girth\n\nTOKEN = os.urandom(8)\n\
                     SIZE = open('size.txt').read()\nTOLD = [one() for one in girth.ASK]\n",
            )],
        ),
        write("size.txt", "3"),
    ])
    .edit(
        "the file",
        [write("size.txt", "5")],
        at_least(["! test_core.py::test_noisy"]),
    )
    .edit(
        "the code",
        [replace("core.py", "return 4", "return 2 + 3")],
        at_least(["! test_core.py::test_noisy"]),
    )
}

/// What stands in `sys.modules` needs not be a module.
fn no_module() -> Case {
    let core = "import stubs\nfrom girth_stub import length\n";
    case(core, "core.length == 3")
        .setup([install(
            "stubs",
            "1.0.0",
            &[(
                "stubs.py",
                "import os\nimport sys\n\nTOKEN = os.urandom(8)\n\n\nclass Stub:\n    \
                 __slots__ = ()\n    length = 3\n    __spec__ = None\n\n\n\
                 sys.modules['girth_stub'] = Stub()\n",
            )],
        )])
        .edit(
            "the same value in another way",
            [replace("core.py", "altitude = 1", "altitude = len('a')")],
            NONE,
        )
        .edit(
            "another value",
            [replace("core.py", "altitude = 1", "altitude = len('ab')")],
            at_least(["! test_core.py::test_altitude"]),
        )
}
