"""Which files a path stands for, and whether they are still the ones that were opened. No row is read here."""

from __future__ import annotations

import fnmatch
import glob
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from covey.errors import DataError
from covey.files import File
from covey.private.tables.formats import FORMATS, Format, as_file, format_of

IGNORED = (".", "_")  # how names begin that writers of data sets keep for themselves
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


class FileSet(NamedTuple):
    """The files of one data set, sorted by path, and the folder from which the names of folders may be values."""

    format: Format
    files: tuple[Path, ...]
    base: Path


class Stamp(NamedTuple):
    """What changes when a file is written to, replaced or touched."""

    size: int
    written: int
    changed: int
    number: int
    device: int


def stamp(file: Path) -> Stamp:
    status = os.stat(file)
    if not stat.S_ISREG(status.st_mode):
        raise DataError(f"data: {str(file)!r} is not an ordinary file, which can be read again; save it as one first")
    return Stamp(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_dev)


def check_stamp(file: Path, known: Stamp) -> None:
    """Refuse a file that is not as it was when `known` was taken."""
    try:
        same = stamp(file) == known
    except (OSError, DataError):
        same = False
    if not same:
        raise DataError(f"data: {str(file)!r} changed while it was read; nothing is published, any charge stays")


def check_distinct(files: Iterable[tuple[Path, Stamp]]) -> None:
    """Refuse a file that is there twice, by a link or under two names: everybody in it would be counted twice."""
    known: dict[tuple[int, int], Path] = {}
    for path, file in files:
        other = known.setdefault((file.device, file.number), path)
        if other != path and file.number:  # some file systems number no files
            raise DataError(
                f"data: {str(other)!r} and {str(path)!r} are the same file, whose rows would count twice; remove a link"
            )


def find_files(path: str | os.PathLike[str]) -> FileSet:
    """The files of a path, a folder or a pattern such as data/*.parquet. What a file holds is not looked at."""
    source = as_file(path)
    path = source.path
    if set("\r\n") & set(str(path)):  # the content of a file instead of its path: rows, not to be repeated
        raise DataError("data: is a text of several lines, not the path of a file; save it as a file first")
    place = Path(path)
    try:
        found = place.exists()
    except OSError:  # too long for a path, and so perhaps a row
        raise DataError("data: is not a path that can be looked up; pass that of a Parquet or CSV file") from None
    if found and not place.is_dir():
        return FileSet(_one_format([place], source), (place,), place.parent)
    if found:
        return _several(_walk(place), place, source, f"in the folder {str(place)!r}")
    if is_pattern(path):
        fixed = _fixed_part(place)
        return _several(_matches(str(path), fixed), fixed, source, f"that {str(path)!r} stands for")
    raise DataError(f"data: there is no file {str(place)!r}")


def is_pattern(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a pattern: a file or folder that is really called so comes first."""
    return glob.has_magic(os.fspath(path)) and not os.path.lexists(path)


def meant_by(path: str) -> Sequence[Path]:
    """The path itself, or the files that a pattern such as data/*.parquet stands for."""
    try:
        return find_files(path).files if is_pattern(path) else [Path(path)]
    except DataError:  # told where the data is opened
        return [Path(path)]


def lies_among(file: Path, pattern: str) -> bool:
    """Whether a file that is there or not is, or could be, one that a pattern stands for: a * may be folders too."""
    if not is_pattern(pattern):
        return False
    fixed = _fixed_part(Path(pattern))
    rest = os.sep.join(Path(pattern).parts[len(fixed.parts) :]).replace(f"**{os.sep}", "*")
    meant = os.path.join(glob.escape(str(fixed.resolve())), rest)
    return any(fnmatch.fnmatchcase(str(each), meant) for each in (file, *file.parents))


def _several(files: Iterable[Path], base: Path, source: File, where: str) -> FileSet:
    found = set(files)
    found -= {each for file in found for kind in FORMATS if kind.has(file.name) for each in kind.belongs(file)}
    listed = tuple(sorted(found, key=lambda file: file.parts))
    if not listed:
        raise DataError(f"data: there is no data file {where}; names that begin with _ or . do not count")
    return FileSet(_one_format(listed, source), listed, base)


def _one_format(files: Sequence[Path], source: File) -> Format:
    found = format_of(files[0], source.format)
    for file in files:
        other = format_of(file, source.format)
        if other != found:
            raise DataError(
                f"data: {str(files[0])!r} is a {found.name} file and {str(file)!r} a {other.name} file; "
                "choose those of one kind by a pattern such as 'data/*.parquet'"
            )
    return found


def _walk(folder: Path) -> Iterator[Path]:
    try:
        for place, folders, files in os.walk(folder, onerror=_refuse):
            folders[:] = [name for name in folders if not name.startswith(IGNORED)]
            yield from (Path(place, name) for name in files if not name.startswith(IGNORED))
    except OSError as error:
        raise DataError(f"data: the folder {str(error.filename)!r} cannot be listed") from None


def _refuse(error: OSError) -> None:
    raise error


def _matches(pattern: str, fixed: Path) -> list[Path]:
    """The files a pattern matches; if it matches folders only, the files in those."""
    places = {Path(each) for each in glob.iglob(pattern, recursive=True)}
    shown = [each for each in places if not _hidden(each, fixed)]
    files = [each for each in shown if not each.is_dir()]
    return files or list({file for folder in shown for file in _walk(folder)})


def _hidden(place: Path, fixed: Path) -> bool:
    return any(name.startswith(IGNORED) for name in place.parts[len(fixed.parts) :])


def _fixed_part(pattern: Path) -> Path:
    """The folders of a pattern before its first wildcard."""
    fixed = []
    for name in pattern.parts[:-1]:
        if glob.has_magic(name):
            break
        fixed.append(name)
    return Path(*fixed)


def folder_values(found: FileSet) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Columns that stand in the names of folders (year=2024/month=3): their Arrow types, and their values by file.

    As pyarrow infers them: 32-bit integers if all values are, and text otherwise.
    """
    import pyarrow as pa
    import pyarrow.dataset as ds

    below = [file.parent.parts[len(found.base.parts) :] for file in found.files]
    keys = list(dict.fromkeys(name.partition("=")[0] for parts in below for name in parts if "=" in name))
    if not keys:
        return {}, [{} for _ in below]
    reader = ds.HivePartitioning(pa.schema([(key, pa.string()) for key in keys]), null_fallback=NO_VALUE)
    texts: list[dict[str, Any]] = []
    for parts in below:
        values = ds.get_partition_keys(reader.parse("/".join((*parts, ""))))
        named = [name.partition("=")[0] for name in parts if "=" in name]
        texts.append({key: values.get(key) for key in named})
    types = {key: _type_of([each[key] for each in texts if each.get(key) is not None]) for key in keys}
    return types, [{key: pa.scalar(text, pa.string()).cast(types[key]) for key, text in each.items()} for each in texts]


def _type_of(texts: list[str]) -> Any:
    import pyarrow as pa

    try:
        pa.array(texts, pa.string()).cast(pa.int32())
    except pa.ArrowInvalid:
        return pa.string()
    return pa.int32()
