"""The helper records the same as `sys.setprofile`."""

import json
import os
import pathlib
import random
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent
# The eval-frame hook of 3.11 counts the creation of a generator as a run.
MAKING_COUNTS = sys.version_info[:2] == (3, 11)


def drive(helper, how, directory, module, extra=""):
    done = subprocess.run(
        [sys.executable, str(HERE / "drive.py"), how, str(directory) + "/", module, extra],
        env={**os.environ, "PYTHONPATH": str(helper), "PYTHONDONTWRITEBYTECODE": "1",
             "PYTHONHASHSEED": "0"},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def compare(native, reference, makes_generators):
    for step, (ours, theirs) in enumerate(zip(native["epochs"], reference["epochs"])):
        ours, theirs = set(map(tuple, ours)), set(map(tuple, theirs))
        more = {code for code in ours - theirs if not (MAKING_COUNTS and makes_generators(code))}
        assert (theirs - ours, more) == (set(), set()), f"step {step}"
    assert native["results"] == reference["results"]


@pytest.fixture
def project(tmp_path):
    (tmp_path / "project_steps.py").write_text((HERE / "project_steps.py").read_text())
    return tmp_path


@pytest.mark.parametrize("extra", ["", "setprofile", "settrace", "coverage"])
def test_every_way_to_run_code(helper, project, extra):
    if extra == "coverage":
        pytest.importorskip("coverage")
    native = drive(helper, "native", project, "project_steps", extra)
    reference = drive(helper, "profile", project, "project_steps")
    names = {"generate", "careful", "delegate", "coroutine", "agenerate", "both", "<genexpr>",
             "__aenter__", "__aexit__"}
    assert sum(map(len, reference["epochs"])) > 100
    compare(native, reference, lambda code: code[2] in names)


def test_recursion_ends_where_it_does_without(helper, project):
    script = "import sys, project_steps\nprint(project_steps.recursion_depth())"
    plain = subprocess.run([sys.executable, "-c", script], cwd=project, stdout=subprocess.PIPE)
    native = "import _tamis_native as n; n.start((%r,), ());" % (str(project) + "/")
    ours = subprocess.run([sys.executable, "-c", native + script], cwd=project,
                          env={**os.environ, "PYTHONPATH": str(helper)}, stdout=subprocess.PIPE)
    assert plain.stdout == ours.stdout != b""


def random_program(seed):
    """Functions, generators and classes that call each other; steps that use them."""
    rng = random.Random(seed)
    count = rng.randint(5, 25)
    kinds = [rng.choice(["plain", "generator", "class", "lambda", "item", "coroutine"]) for _ in range(count)]
    lines = ["LIVE = []"]

    def use(n, depth="    "):
        kind = kinds[n]
        return {
            "plain": f"f{n}()", "lambda": f"f{n}()", "class": f"f{n}(1).p", "item": f"f{n}()[1]",
            "generator": rng.choice([f"list(f{n}())", f"next(f{n}())", f"keep(f{n}())", f"sum(1 for _ in f{n}())"]),
            "coroutine": f"drive(f{n}())",
        }[kind]

    def body(n, indent):
        callees = [use(rng.randrange(n)) for _ in range(rng.randint(0, 2))] if n else []
        made = []
        for callee in callees:
            form = rng.choice(["{}", "for _ in range(3): {}", "try:\n{i}    {}; raise KeyError\n{i}except KeyError: pass",
                               "[{} for _ in range(2)]", "sorted([2, 1], key=lambda _: ({}, 1)[1])"])
            made.append(indent + form.replace("{}", callee).replace("{i}", indent))
        return made or [indent + "pass"]

    lines += ["def keep(g):", "    LIVE.append(g); return next(g)",
              "def drive(c):", "    try: c.send(None)", "    except StopIteration: pass",
              "def resume(n):", "    try: return next(LIVE[n % len(LIVE)]) if LIVE else None",
              "    except (StopIteration, KeyError): return None",
              "def shut(n):", "    if LIVE: LIVE.pop(n % len(LIVE)).close()",
              "def throw(n):", "    try: LIVE and LIVE[n % len(LIVE)].throw(KeyError)",
              "    except (StopIteration, KeyError): pass"]
    for n, kind in enumerate(kinds):
        if kind == "plain":
            lines += [f"def f{n}():", *body(n, "    ")]
        elif kind == "lambda":
            lines += [f"f{n} = lambda: {use(rng.randrange(n)) if n else 1}"]
        elif kind == "generator":
            lines += [f"def f{n}():", "    try:", *body(n, "        "), "        yield 1",
                      *body(n, "        "), "        yield 2",
                      "    except KeyError:", "        yield 3", "    finally:", *body(n, "        ")]
        elif kind == "coroutine":
            lines += [f"async def f{n}():", *body(n, "    ")]
        elif kind == "class":
            lines += [f"class f{n}:", "    def __init__(self, a):", *body(n, "        "),
                      "    @property", "    def p(self):", *body(n, "        ")]
        else:
            lines += [f"class f{n}:", "    def __getitem__(self, a):", *body(n, "        ")]
    steps = []
    for step in range(25):
        n = rng.randrange(count)
        action = rng.choice([use(n), use(n), f"resume({n})", f"shut({n})", f"throw({n})"])
        repeat = rng.choice([1, 1, 20])
        lines += [f"def step{step}():", f"    for _ in range({repeat}):", f"        {action}"]
        steps.append(f"step{step}")
    lines.append(f"STEPS = [{', '.join(steps)}]")
    return "\n".join(lines) + "\n", {f"f{n}" for n, k in enumerate(kinds) if k in ("generator", "coroutine")}


@pytest.mark.parametrize("seed", range(int(os.environ.get("TAMIS_FUZZ", "12"))))
def test_random_programs(helper, tmp_path, seed):
    text, makers = random_program(seed)
    (tmp_path / "random_steps.py").write_text(text)
    native = drive(helper, "native", tmp_path, "random_steps")
    reference = drive(helper, "profile", tmp_path, "random_steps")
    compare(native, reference, lambda code: code[2] in makers or code[2] == "<genexpr>")
