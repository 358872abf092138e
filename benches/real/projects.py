#!/usr/bin/env python3
"""Makes real projects to measure on: a git repository whose commits are the
releases (as in their sdists, tests included), and virtual environments.

    python3 benches/real/projects.py [NAME...] [--work DIR] [--python PYTHON]

Everything is made below the work folder, and made once only.
"""

import argparse
import json
import shutil
import tarfile
from dataclasses import dataclass
from pathlib import Path

from running import Trouble, environment, finish, must

# The packages in each kind of virtual environment, besides the project's own needs. The other
# tools have their own environments, because an installed plug-in costs time even when unused.
KINDS = {
    "plain": ["pytest"],
    "peers": ["pytest", "pytest-testmon", "pytest-cov"],
}


@dataclass
class Project:
    name: str
    releases: list
    base: str
    source: str
    package: str
    requires: list
    args: list
    # State that is declared benign for the tool `tamis-benign`.
    benign: list = ()


def table():
    data = json.loads((Path(__file__).parent / "projects.json").read_text())
    return {name: Project(name=name, **entry) for name, entry in data.items()}


def find(name):
    projects = table()
    if name not in projects:
        raise Trouble(f"no project `{name}`; there are {', '.join(projects)}")
    return projects[name]


class Work:
    """The work folder and its content."""

    def __init__(self, folder):
        self.folder = Path(folder).resolve()
        self.home = self.folder / "home"
        self.logs = self.folder / "logs"
        self.home.mkdir(parents=True, exist_ok=True)

    def repository(self, project):
        """Makes the project's repository if necessary; each release is a tag `vX`."""
        path = self.folder / "repositories" / project.name
        done = path / ".git" / "releases-complete"
        if done.exists() and done.read_text().split() == project.releases:
            return path
        if path.exists():
            shutil.rmtree(path)
        path.mkdir(parents=True)
        self.git(path, "init", "-q", "-b", "main")
        exclude = ["__pycache__/", ".pytest_cache/", ".hypothesis/", ".testmondata*", ".coverage*"]
        (path / ".git" / "info" / "exclude").write_text("\n".join(exclude) + "\n")
        for number, release in enumerate(project.releases):
            clear(path)
            unpack(self.sdist(project, release), path)
            self.git(path, "add", "-A", "-f", ".")
            date = f"2024-01-01T00:00:{number:02}+00:00"
            self.git(path, "commit", "-q", "-m", f"{project.name} {release}", date=date)
            self.git(path, "tag", f"v{release}")
        self.git(path, "checkout", "-q", f"v{project.base}")
        done.write_text("\n".join(project.releases) + "\n")
        return path

    def sdist(self, project, release):
        folder = self.folder / "sdists" / f"{project.name}-{release}"
        if not list(folder.glob("*.tar.gz")):
            argv = ["python3", "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:"]
            argv += ["-d", folder, f"{project.name}=={release}"]
            must(argv, self.folder, environment(self.home), self.logs / "download.log")
        return next(folder.glob("*.tar.gz"))

    def venv(self, project, interpreter, kind):
        """The Python of a virtual environment with the project's repository installed as
        editable, as developers have it."""
        version = python_version(interpreter, self)
        path = self.folder / "venvs" / f"{project.name}-{version}-{kind}"
        python = path / "bin" / "python"
        done = path / "complete"
        if done.exists():
            return python
        if path.exists():
            shutil.rmtree(path)
        repository = self.repository(project)
        env = environment(self.home)
        log = self.logs / f"venv-{path.name}.log"
        must([interpreter, "-m", "venv", path], self.folder, env, log)
        install = [python, "-m", "pip", "install", "-q"]
        must([*install, *KINDS[kind], *project.requires], self.folder, env, log)
        # An older interpreter is for an older release of the tree.
        must([*install, "--ignore-requires-python", "-e", repository], self.folder, env, log)
        done.write_text("")
        return python

    def tree(self, project, name, release):
        """A clean clone of the repository at `release`, without any recorded data."""
        path = self.folder / "trees" / f"{project.name}-{name}"
        if path.exists():
            shutil.rmtree(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        repository = self.repository(project)
        self.git(self.folder, "clone", "-q", "--no-checkout", repository, path)
        shutil.copy(repository / ".git" / "info" / "exclude", path / ".git" / "info" / "exclude")
        self.git(path, "checkout", "-q", f"v{release}")
        return path

    def env(self, project, tree, python, **extra):
        """The environment of a run in `tree`: its sources come before those of the editable
        installation."""
        return environment(self.home, python, PYTHONPATH=tree / project.source, **extra)

    def git(self, cwd, *args, date="2024-01-01T00:00:00+00:00"):
        env = environment(self.home)
        for role in ("AUTHOR", "COMMITTER"):
            env[f"GIT_{role}_NAME"] = "bench"
            env[f"GIT_{role}_EMAIL"] = "bench@example.invalid"
            env[f"GIT_{role}_DATE"] = date
        return must(["git", *args], cwd, env, self.logs / "git.log")

    def versions(self, python):
        """The packages installed for an interpreter: `{name: version}`."""
        log = self.logs / "freeze.log"
        must([python, "-m", "pip", "list", "--format=json"], self.folder, environment(self.home), log)
        return {entry["name"]: entry["version"] for entry in json.loads(log.read_text())}


def python_version(interpreter, work):
    log = work.logs / "python.log"
    code = "import platform; print(platform.python_version())"
    must([interpreter, "-c", code], work.folder, environment(work.home), log)
    return log.read_text().strip()


def clear(tree):
    for entry in tree.iterdir():
        if entry.name == ".git":
            continue
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def unpack(archive, folder):
    """Unpacks an sdist without its top folder."""
    with tarfile.open(archive) as tar:
        for member in tar.getmembers():
            _, _, member.name = member.name.partition("/")
            if member.name and ".egg-info" not in member.name:
                tar.extract(member, folder, filter="data")


def arguments(description):
    """Adds the options that all scripts share."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    default = Path(__file__).resolve().parents[2] / "target" / "real"
    parser.add_argument("--work", type=Path, default=default, help="work folder (target/real)")
    parser.add_argument("--python", default="python3", help="interpreter of the projects")
    return parser


def main():
    parser = arguments(__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="projects (default: all)")
    options = parser.parse_args()
    work = Work(options.work)
    for name in options.names or table():
        project = find(name)
        path = work.repository(project)
        for kind in KINDS:
            python = work.venv(project, options.python, kind)
        versions = work.versions(python)
        tools = {tool: versions.get(tool) for tool in ("pytest", "pytest-testmon", "coverage")}
        print(f"{name}: {len(project.releases)} releases in {path}, {tools}")


if __name__ == "__main__":
    finish(main)
