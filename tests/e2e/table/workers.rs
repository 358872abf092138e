//! Code that pools of processes and threads run.

use crate::harness::*;

cases!(pools; version_sensitive: threads);

/// Several processes that take work.
fn pools() -> Case {
    Case::new(
        r#"
-- work.py --
def by_pool(x):
    return x + one()


def one():
    return 1


def by_spawn_pool(x):
    return x + 1


def by_executor(x):
    return x + 1
-- test_pools.py --
import concurrent.futures
import multiprocessing

import work


def test_pool():
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(work.by_pool, [1, 2, 3]) == [2, 3, 4]


def test_spawn_pool():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(work.by_spawn_pool, [1, 2]) == [2, 3]


def test_executor():
    context = multiprocessing.get_context("fork")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as executor:
        assert list(executor.map(work.by_executor, [1, 2])) == [2, 3]


def test_forkserver():
    context = multiprocessing.get_context("forkserver")
    with context.Pool(1) as pool:
        assert pool.map(work.by_executor, [1, 2]) == [2, 3]


def test_none():
    assert work.__name__ == "work"
"#,
    )
    .edit(
        "Pool of forks",
        [replace("work.py", "return 1", "return 2")],
        ["! test_pools.py::test_pool"],
    )
    .edit(
        "Pool of spawned processes",
        [replace(
            "work.py",
            "def by_spawn_pool(x):\n    return x + 1",
            "def by_spawn_pool(x):\n    return x + 2",
        )],
        // Everybody may meet the other one's handler for the end of the process.
        between(
            ["! test_pools.py::test_spawn_pool"],
            ["test_pools.py::test_pool"],
        ),
    )
    .edit(
        "ProcessPoolExecutor and forkserver",
        [replace(
            "work.py",
            "def by_executor(x):\n    return x + 1",
            "def by_executor(x):\n    return x + 2",
        )],
        between(
            [
                "! test_pools.py::test_executor",
                "! test_pools.py::test_forkserver",
            ],
            ["test_pools.py::test_pool"],
        ),
    )
}

/// Threads of a test, and one that outlives the test that started it.
fn threads() -> Case {
    Case::new(
        r#"
-- work.py --
import queue
import threading


def in_thread(results):
    results.append(1)


def in_executor(x):
    return x + 1


def in_timer(event):
    event.set()


def long_lived(text):
    return text.upper()


class Server:
    def __init__(self):
        self.requests = queue.Queue()
        self.answers = queue.Queue()
        threading.Thread(target=self.loop, daemon=True).start()

    def loop(self):
        while True:
            self.answers.put(long_lived(self.requests.get()))

    def ask(self, text):
        self.requests.put(text)
        return self.answers.get(timeout=60)
-- test_threads.py --
import concurrent.futures
import threading

import pytest
import work


def test_thread():
    results = []
    thread = threading.Thread(target=work.in_thread, args=(results,))
    thread.start()
    thread.join()
    assert results == [1]


def test_executor():
    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        assert list(executor.map(work.in_executor, [1, 2])) == [2, 3]


def test_timer():
    event = threading.Event()
    threading.Timer(0.01, work.in_timer, [event]).start()
    assert event.wait(1)


@pytest.fixture(scope="module")
def server():
    return work.Server()


def test_ask_once(server):
    assert server.ask("a") == "A"


def test_ask_again(server):
    assert server.ask("b") == "B"


def test_do_not_ask(server):
    assert server


def test_none():
    pass
"#,
    )
    .edit(
        "Thread",
        [replace("work.py", "append(1)", "append(2)")],
        ["! test_threads.py::test_thread"],
    )
    .edit(
        "ThreadPoolExecutor",
        [replace("work.py", "x + 1", "x + 2")],
        ["! test_threads.py::test_executor"],
    )
    .edit(
        "Timer",
        [replace("work.py", "event.set()", "event.clear()")],
        ["! test_threads.py::test_timer"],
    )
    .edit(
        "thread that a fixture started",
        [replace("work.py", "text.upper()", "text.lower()")],
        between(
            [
                "! test_threads.py::test_ask_once",
                "! test_threads.py::test_ask_again",
            ],
            ["test_threads.py::test_do_not_ask"],
        ),
    )
}
