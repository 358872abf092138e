"""Runs the steps of a module, one epoch each, natively or with the reference.

    drive.py native|profile DIRECTORY MODULE [EXTRA]

Prints for each step the sorted (file, line, name) of the project code that ran.
"""

import gc
import importlib
import json
import sys
import threading

HOW, DIRECTORY, MODULE = sys.argv[1:4]
EXTRA = sys.argv[4] if len(sys.argv) > 4 else ""
sys.path.insert(0, DIRECTORY)
gc.disable()


class Reference:
    def __init__(self):
        self.ran = set()

    def start(self):
        threading.setprofile(self.note)
        sys.setprofile(self.note)

    def stop(self):
        sys.setprofile(None)
        threading.setprofile(None)

    def note(self, frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(DIRECTORY):
            self.ran.add((code.co_filename, code.co_firstlineno, code.co_name))

    def swap(self):
        ran, self.ran = self.ran, set()
        # Python removes a profile function that hits the recursion limit.
        sys.setprofile(self.note)
        return ran


class Native:
    def __init__(self):
        import _tamis_native
        self.native = _tamis_native
        self.codes = {}

    def start(self):
        self.native.start((DIRECTORY,), ())

    def stop(self):
        self.native.stop()

    def swap(self):
        ran = self.native.swap()
        assert len(set(ran)) == len(ran)
        for number, *code in self.native.definitions():
            self.codes[number] = tuple(code)
        assert self.native.lost() is None
        return {self.codes[number] for number in ran}


if EXTRA == "setprofile":
    sys.setprofile(lambda *_: None)
if EXTRA == "settrace":
    def trace(*_):
        return trace
    sys.settrace(trace)
if EXTRA == "coverage":
    import coverage
    tool = coverage.Coverage(data_file=None, branch=True)
    tool.start()

recorder = Native() if HOW == "native" else Reference()
recorder.start()
module = importlib.import_module(MODULE)
epochs = [sorted(recorder.swap())]
results = []
for step in module.STEPS:
    result = step()
    results.append(repr(result) if isinstance(result, (int, str, list)) else None)
    epochs.append(sorted(recorder.swap()))
depth = getattr(module, "recursion_depth", int)()
recorder.stop()
print(json.dumps({"epochs": epochs, "depth": depth, "results": results}))
