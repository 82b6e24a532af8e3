"""Files of object stores (``s3://``, ``gs://``, ``abfs://`` and others), fetched once into private files of this machine.

Arrow brings the connectors of the large stores, and takes its settings and keys from where their own tools take them. For
any other store fsspec is asked, if it and its connector are installed. What was fetched is removed when the program ends.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import re
import shutil
import tempfile
import textwrap
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow as pa

from tacit.errors import InvalidInput

ARROW_STORES = ("s3", "gs", "gcs", "abfs", "abfss", "hdfs")
OTHER_STORES = ("az", "azure", "http", "https", "ftp", "sftp", "webhdfs", "memory")
DATA_SUFFIXES = (".parquet", ".pq", ".csv", ".csv.gz")
COPIED_BYTES = 1 << 20
LONGEST_REASON = 240  # characters
# Google's connector would ask for a quarter of an hour before it gives up; so many seconds for each question it is asked.
PATIENCE = dict.fromkeys(("gs", "gcs"), "?retry_limit_seconds=3")
# A path has one slash where an address has two.
_ADDRESS = re.compile(rf"({'|'.join((*ARROW_STORES, 's3a', *OTHER_STORES))}):/{{1,2}}(?=[^/])")


def is_object(place: str | Path) -> bool:
    """Whether a place is the address of something in an object store."""
    return _ADDRESS.match(str(place)) is not None


def local_copy(place: str | Path) -> Path:
    """The copy of an object on this machine, with its sidecar; fetched the first time it is asked for."""
    return _fetch(_address(place))


def objects(place: str | Path) -> list[str]:
    """The addresses of the data files that a folder or a pattern of an object store stands for, in order; else its own."""
    address = _address(place)
    base, mark, _ = re.split(r"([*?[])", address, maxsplit=1) if any(m in address for m in "*?[") else (address, "", "")
    if not mark and is_data_name(address):
        return [address]
    from pyarrow import fs

    folder = base.rpartition("/")[0] if mark else base.rstrip("/")
    store, path = _open_store(folder)
    with _store_errors(address):
        present = store.get_file_info(fs.FileSelector(path, allow_not_found=True, recursive=True))
    names = sorted(info.path for info in present if info.type == fs.FileType.File)
    wanted = path.rstrip("/") + address[len(folder) :] if mark else None
    above = path.rstrip("/")
    chosen = [name for name in names if _is_data(name, above) and (wanted is None or _matches(name, wanted))]
    if not chosen:
        raise InvalidInput(f"{address!r} holds no Parquet or CSV file. Compare the address, or write the files there.")
    return [f"{address.split('://')[0]}://{name.lstrip('/')}" for name in chosen]


def _matches(name: str, pattern: str) -> bool:
    """Whether a name matches as in file patterns: a star stays within a folder, two stars go through any number of them."""
    return fnmatchcase(name, pattern) and ("**" in pattern or name.count("/") == pattern.count("/"))


def is_data_name(name: str) -> bool:
    """Whether a file of this name is taken for data where a folder is read."""
    return name.lower().endswith(DATA_SUFFIXES)


def _is_data(name: str, above: str) -> bool:
    """Whether an object holds data; what is hidden below the folder that was named does not."""
    below = PurePosixPath(name.removeprefix(above)).parts
    return is_data_name(name) and not any(folder.startswith((".", "_")) for folder in below)


def _address(place: str | Path) -> str:
    kind, _, rest = str(place).partition(":")
    return f"{'s3' if kind == 's3a' else kind}://{rest.lstrip('/')}"


@functools.cache
def _folder() -> Path:
    folder = tempfile.mkdtemp(prefix="tacit-")  # its mode is 700
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


@functools.cache
def _fetch(address: str) -> Path:
    copy = _folder() / address.replace("://", "/")
    if not _copy_object(address, copy):
        raise InvalidInput(f"There is no file {address!r} in its object store. Compare bucket and name.")
    if ".csv" in map(str.lower, copy.suffixes[-2:]):
        _copy_object(f"{address}.json", Path(f"{copy}.json"))
    return copy


def _copy_object(address: str, target: Path) -> bool:
    """Copy an object; False where there is none."""
    from pyarrow import fs

    store, path = _open_store(address)
    with _store_errors(address):
        if store.get_file_info(path).type != fs.FileType.File:
            return False
        target.parent.mkdir(parents=True, exist_ok=True)
        with store.open_input_stream(path, compression=None) as content, target.open("wb") as copy:
            shutil.copyfileobj(content, copy, COPIED_BYTES)
    return True


def _open_store(address: str) -> tuple[Any, str]:
    """The store of an address by Arrow's interface, and the path in it."""
    from pyarrow import fs

    reason: BaseException
    if address.split("://")[0] in ARROW_STORES:
        try:
            with _store_errors(address):
                store, path = fs.FileSystem.from_uri(address + PATIENCE.get(address.split("://")[0], ""))
                return store, path
        except (ImportError, pa.ArrowNotImplementedError) as problem:
            reason = problem
    try:
        from fsspec.core import url_to_fs

        store, path = url_to_fs(address)
        return fs.PyFileSystem(fs.FSSpecHandler(store)), path
    except (ImportError, ValueError) as problem:
        reason = problem
    raise InvalidInput(
        f"{address!r} lies in an object store, for which there is no connector here ({_first_sentence(reason)}). Install one, "
        "copy the file to this machine, or let Spark read it: spark:ADDRESS, with the store's connector in its settings."
    ) from None


@contextlib.contextmanager
def _store_errors(address: str) -> Iterator[None]:
    """What a store complains of, in one sentence."""
    try:
        yield
    except pa.ArrowNotImplementedError:
        raise  # no connector
    except (OSError, pa.ArrowException) as problem:
        raise InvalidInput(
            f"{address!r} could not be read from its object store: {_first_sentence(problem)}. Are the address, "
            "the region, the keys and the network right?"
        ) from None


def _first_sentence(problem: BaseException) -> str:
    """The first sentence or so of a connector's complaint."""
    text = (str(problem).strip() or type(problem).__name__).splitlines()[0]
    return textwrap.shorten(text, LONGEST_REASON, placeholder=" ...").rstrip(".")
