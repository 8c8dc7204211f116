# SPDX-License-Identifier: Apache-2.0
"""Fetches and unpacks Debian's source package of redis into a cache folder.

First step of tools/redis_suite/run.py: the suite itself is never part of this repository. The package comes
through the machine's own apt sources: each binary source (one-line `deb` or deb822 `Types: deb`) is
copied as its source twin into a private apt folder, so that the system's configuration, lists and
caches stay as they are and no host is named here. Works without root.
"""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile

PACKAGE = "redis"
UPSTREAM_VERSION = "7.0.15"


class FetchError(Exception):
    """The source package cannot be had; the message says which step failed and why."""


def cache_folder():
    """Below the build folder, which is never committed; NIDUS_CACHE_DIR keeps it elsewhere."""
    base = os.environ.get("NIDUS_CACHE_DIR") or pathlib.Path(__file__).resolve().parents[2] / "build"
    return pathlib.Path(base) / "redis_suite"


def source_twin_one_line(text):
    """`deb [options] uri suite components` -> `deb-src ...`; other lines are dropped."""
    lines = []
    for line in text.splitlines():
        match = re.match(r"\s*deb\s+(.*)", line)
        if match:
            lines.append("deb-src " + match.group(1))
    return "\n".join(lines) + "\n" if lines else ""


def source_twin_deb822(text):
    """Stanzas with `Types: deb ...` -> the same stanza with `Types: deb-src`."""
    stanzas = []
    for stanza in re.split(r"\n\s*\n", text):
        lines = [line for line in stanza.splitlines() if not line.lstrip().startswith("#")]
        fields = "\n".join(lines)
        types = re.search(r"^Types:(.*)$", fields, re.M | re.I)
        if not types or "deb" not in types.group(1).split():
            continue
        if re.search(r"^Enabled:\s*(no|false)", fields, re.M | re.I):
            continue
        stanzas.append(re.sub(r"^Types:.*$", "Types: deb-src", fields, flags=re.M | re.I).strip())
    return "\n\n".join(stanzas) + "\n" if stanzas else ""


def write_private_sources(parts):
    """Fills `parts` with the source twins of the machine's apt sources; returns how many files."""
    etc = pathlib.Path("/etc/apt")
    candidates = [etc / "sources.list"] + sorted((etc / "sources.list.d").glob("*"))
    written = 0
    for path in candidates:
        if not path.is_file() or path.suffix not in (".list", ".sources"):
            continue
        text = path.read_text(errors="replace")
        twin = source_twin_deb822(text) if path.suffix == ".sources" else source_twin_one_line(text)
        if twin:
            (parts / f"{written:02d}{path.suffix}").write_text(twin)
            written += 1
    return written


def apt(private, *arguments, cwd=None):
    """Runs apt-get against the private folder; raises FetchError with its last lines on failure."""
    options = {
        "Dir::Etc::sourcelist": "/dev/null",
        "Dir::Etc::sourceparts": private / "parts",
        "Dir::State::lists": private / "lists",
        "Dir::Cache": private / "cache",
        "Acquire::Languages": "none",
        "Acquire::Retries": "3",
        "APT::Sandbox::User": "",
        "Debug::NoLocking": "1",
    }
    command = ["apt-get", "-q"]
    for name, value in options.items():
        command += ["-o", f"{name}={value}"]
    done = subprocess.run(
        command + list(arguments), cwd=cwd, text=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
    if done.returncode != 0:
        tail = "\n".join(done.stdout.splitlines()[-8:])
        raise FetchError(f"apt-get {' '.join(arguments)} failed (status {done.returncode}):\n{tail}")


def download(private, target):
    for name in ("parts", "lists/partial", "cache/archives/partial", "source"):
        (private / name).mkdir(parents=True)
    if write_private_sources(private / "parts") == 0:
        raise FetchError("no usable apt source in /etc/apt/sources.list or /etc/apt/sources.list.d")
    apt(private, "update")
    apt(private, "source", PACKAGE, cwd=private / "source")
    found = sorted(private.glob(f"source/{PACKAGE}-*/runtest"))
    if not found:
        raise FetchError(f"the source package {PACKAGE} holds no runtest script")
    folder = found[0].parent
    if folder.name != f"{PACKAGE}-{UPSTREAM_VERSION}":
        raise FetchError(f"this machine's sources give {folder.name}; the counts and the skip file hold "
                         f"for {UPSTREAM_VERSION}")
    target.parent.mkdir(parents=True, exist_ok=True)
    # A rename within one file system publishes the finished folder or nothing.
    staging = target.with_name(f"{target.name}.{os.getpid()}.part")
    shutil.copytree(folder, staging, symlinks=True)
    try:
        staging.rename(target)
    except OSError:
        shutil.rmtree(staging, ignore_errors=True)
        if not (target / "runtest").exists():
            raise


def suite_folder():
    """The unpacked suite; fetched on the first call, afterwards from the cache."""
    target = cache_folder() / f"{PACKAGE}-{UPSTREAM_VERSION}"
    if (target / "runtest").exists():
        return target
    for tool, package in (("apt-get", "apt"), ("dpkg-source", "dpkg-dev")):
        if not shutil.which(tool):
            raise FetchError(f"{tool} is missing: install {package}")
    print(f"redis_suite: fetching the source package {PACKAGE} {UPSTREAM_VERSION}", flush=True)
    private = pathlib.Path(tempfile.mkdtemp(prefix="nidus-redis-suite-"))
    try:
        download(private, target)
    except subprocess.TimeoutExpired as error:
        raise FetchError(f"no answer from the package sources within {error.timeout} s") from error
    finally:
        shutil.rmtree(private, ignore_errors=True)
    return target


if __name__ == "__main__":
    print(suite_folder())
