"""What `covey fit` and `covey coreset` share: check, pay and make, publish. Heavy imports stay inside the functions."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import fspath
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import click

from covey.cli.options import (
    Shared,
    check_axes,
    check_outputs,
    files_of,
    read_bounds,
    read_params,
    read_rows_per_person,
    read_sample,
    read_scale,
    split_ranges,
    zones_in_file,
)
from covey.errors import BudgetError, CoveyError, DataError, LedgerError, ParameterError, need
from covey.files import File
from covey.text import printable

if TYPE_CHECKING:
    from covey.budget.ledger.chain import Entry
    from covey.budget.ledger.ledger import Ledger
    from covey.cli.about import Asked
    from covey.public import Ball, Box
    from covey.published.certificate import Certificate
    from covey.published.coreset.coreset import Coreset
    from covey.published.release import Release


class Certified(Protocol):
    """What is published, with its certificate."""

    @property
    def certificate(self) -> Certificate: ...


T = TypeVar("T", bound=Certified)


@dataclass(frozen=True)
class PaidRelease(Generic[T]):
    """A release that was paid for, the ledger if there is one, the entries of its charges that are new, or a problem.

    problem : why the ledger holds the charge, but not the release.
    """

    release: T
    book: Ledger | None
    charged: tuple[Entry, ...] = ()
    problem: LedgerError | None = None


def check_shared(data: File, options: Shared, *, more_outputs: Sequence[str | None] = ()) -> Box | Ball:
    """Refuse what is wrong about the options before any budget is spent; the domain, if all is well."""
    outputs = [path for path in (options.out, options.geojson, *more_outputs) if path is not None]
    check_charged(options, outputs)
    if options.master is not None and options.engine != "spark":
        raise click.UsageError("--master: is the cluster of --engine spark")
    if options.convert and options.ledger_file is None:
        raise click.UsageError("--convert: needs --ledger, where charges and finished releases are kept")
    listed = (options.zones, read_params(options.param).get("sites"))
    inputs = [fspath(data), *kept_files(options.ledger_file), *(each for each in listed if isinstance(each, str))]
    check_outputs(outputs, inputs=inputs, force=options.force)
    domain = read_bounds(split_private(options.bounds)[0], options.ball)
    if options.person is not None and options.person in (domain.columns or ()):
        raise ParameterError("person", f"{options.person!r} says whose a row is; leave it out of --bounds")
    if options.geojson is not None:
        check_axes(data, domain, lon=options.lon, lat=options.lat)
        check_degrees(domain, lon=options.lon, lat=options.lat)
    return domain


def split_private(bounds: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """All ranges, with any in the place of those that are to be found, which come by column: `income=private:0.1`."""
    declared, private = [], {}
    for part in split_ranges(bounds):
        name, _, ends = part.rpartition("=")
        if name and ends.partition(":")[0] == "private":
            private[name] = ends
        declared.append(f"{name}=-1:1" if name in private else part)
    return declared, private


def check_charged(options: Shared | Asked, outputs: Sequence[str]) -> None:
    """Refuse options that say nothing together: of seeds, of ledgers, of what is left of a release."""
    if options.seed is not None and outputs and not options.allow_seeded:
        raise click.UsageError(
            "--seed: a seeded release is not private; --allow-seeded writes it to a file all the same"
        )
    if options.quiet and not (outputs or options.as_json):
        raise click.UsageError("--quiet: without --out, --geojson or --json nothing would be left of the release")
    if options.ledger_file is not None and options.dataset is None:
        raise click.UsageError("--dataset: a ledger counts per data set; say which one this is")
    if options.key is not None and options.ledger_file is None:
        raise click.UsageError("--key: needs --ledger, where charges and finished releases are kept")


def check_picture(data: File, domain: Box | Ball, options: Shared) -> None:
    """Refuse a picture that could not be drawn, before any budget is spent."""
    from covey.geo.metric import measured
    from covey.private.tables.frames import open_table
    from covey.public import Person
    from covey.published.draw import two_columns

    need("plot", "--plot: a picture")
    table = open_table(data)
    known = measured(domain, None, person=Person(options.person), names=table.names, width=table.width)
    two_columns(known.names, options.lon, options.lat)


def kept_files(ledger_file: str | None) -> list[str]:
    """The files that belong to the ledger of a command, if it has one."""
    if ledger_file is None:
        return []
    from covey.budget.ledger.ledger import Ledger

    return files_of(Ledger.open(ledger_file))


def check_degrees(domain: Box | Ball, *, lon: str | None, lat: str | None) -> None:
    """Refuse a map of named columns whose bounds are no degrees: metres, or degrees without their decimal point."""
    from covey.geo.geojson import find_axes
    from covey.public import Box

    if not isinstance(domain, Box) or domain.columns is None:
        return
    for axis, most in zip(find_axes(domain.columns, lon, lat), (360, 90), strict=True):
        if max(map(abs, domain.ranges[axis])) > most:
            name = domain.columns[axis]
            raise ParameterError("bounds", f"of {name!r} go beyond {most} degrees: --geojson is for degrees only")


def make_release(
    data: File,
    options: Shared,
    *,
    k: int | str,
    k_range: tuple[int, int] | None = None,
    domain: Box | Ball,
    objective: str,
    algorithm: str,
    parameters: dict[str, Any] | None,
) -> PaidRelease[Release]:
    """Pay, and make the release."""
    from covey.fit.fit import fit
    from covey.terminal import progress_bar

    listed = (parameters or {}).get("sites")
    if algorithm == "sites" and isinstance(listed, str):
        parameters = {**(parameters or {}), "sites": read_sites(listed, data, domain, options)}
    private = split_private(options.bounds)[1]
    bounds = {**dict(zip(domain.columns or (), getattr(domain, "ranges", ()), strict=False)), **private}
    book = keyed_ledger(options.ledger_file, options.key)
    if book is not None and options.convert:
        book = say_price(book.converting(), options)
    if options.engine == "spark":
        from covey.private.opening import start_spark

        start_spark(options.master)
    with progress_bar(show=not options.quiet) as progress:
        return paid(
            book,
            lambda: fit(
                data,
                k=k,
                k_range=k_range,
                epsilon=options.epsilon,
                delta=options.delta,
                bounds=bounds if private else domain,
                algorithm=algorithm,
                algorithm_params=parameters,
                objective=objective,
                neighbours=options.neighbours,
                person=options.person,
                rows_per_person=read_rows_per_person(options.rows_per_person),
                engine=options.engine,
                zones=zones_in_file(options.zones, lon=options.lon, lat=options.lat),
                sample=read_sample(options.sample),
                missing=options.missing,
                scale=read_scale(options.scale),
                ledger=book,
                dataset=options.dataset,
                random_state=options.seed,
                progress=progress,
                errors=options.errors,
            ),
        )


def keyed_ledger(ledger_file: str | None, key: str | None) -> Ledger | None:
    """The ledger that a command charges, with the key that it was given."""
    from covey.budget.ledger.ledger import Ledger

    return None if ledger_file is None else Ledger.open(ledger_file).with_key(key)


def paid(book: Ledger | None, make: Callable[[], T]) -> PaidRelease[T]:
    """What is made and paid for, with the entry of its charge."""
    seen = 0 if book is None else book.head.sequence
    try:
        release = make()
    except LedgerError as error:
        if error.release is None:
            raise
        return PaidRelease(error.release, book, problem=error)
    ranges = release.certificate.parameters.get("bounds")
    first = ranges.get("receipt") if isinstance(ranges, dict) else None  # of the charge of private bounds
    receipts = [each for each in (first, release.certificate.receipt) if each is not None]
    numbers = [] if book is None else [book.find(each) or 0 for each in receipts]
    new = [] if book is None else [book.entries()[each - 1] for each in numbers if each > seen]
    return PaidRelease(release, book, tuple(new))


def say_price(book: Ledger, options: Shared) -> Ledger:
    """Tell what a fit of another type will be charged, before it is; the fit itself refuses what is too much."""
    from covey.budget.accounting.promise import Kind, Promise
    from covey.budget.ledger.rules import words
    from covey.public import Neighbours

    kind = Kind(Neighbours.parse(options.neighbours), options.person)
    try:
        cost = book.price(options.dataset or "", Promise.of(options.epsilon, options.delta or 0, kind=kind))
    except BudgetError:  # a pure algorithm is not charged the delta, nor anything where the key was finished before
        return book
    click.echo(f"Data set {printable(repr(options.dataset))} will be charged at most {words(cost)}.", err=True)
    return book


def read_sites(path: str, data: File, domain: Box | Ball, options: Shared) -> list[list[float]]:
    """The public list of sites in a CSV, JSON or GeoJSON file, in the order of the columns."""
    from covey.private.tables.frames import open_table
    from covey.published.centres import read_places

    columns = domain.columns or open_table(data).names or ()
    return read_places(path, columns, name="sites", whose="the data's", lon=options.lon, lat=options.lat)


def publish(
    made: PaidRelease[Any],
    options: Shared | Asked,
    *,
    files: Sequence[tuple[str | None, Callable[[str], None]]],
    document: Callable[[], bytes],
    show: Callable[[], None],
) -> None:
    """Write the files, then tell; if a file or the ledger cannot be written, print what was paid for, or it is lost."""
    problem: CoveyError | None = made.problem
    try:
        for path, write in files:
            if path is not None:
                write(path)
    except CoveyError as error:
        problem = error
    if options.as_json or problem is not None:
        print_bytes(document())
    elif not options.quiet:
        show()
        if made.book is not None and made.release.certificate.receipt is not None:
            show_charge(made, made.book)
        outputs = [path for path, _ in files if path is not None]
        if outputs:
            click.echo(f"Wrote {printable(', '.join(outputs))}.")
    if problem is not None:
        raise problem


def show_charge(made: PaidRelease[Any], book: Ledger) -> None:
    from covey.budget.accounting.amounts import shown
    from covey.budget.ledger.records import cost_of

    certificate = made.release.certificate
    account = book.datasets()[certificate.dataset or ""]
    what = "This key was finished before: the stored release, at no cost."
    if made.charged:
        amounts = [(each.epsilon or 0, each.delta or 0) for each in made.charged]
        spent = cost_of((sum(epsilon for epsilon, _ in amounts), sum(delta for _, delta in amounts)))
        what = f"Charged epsilon {shown(spent.epsilon)} to data set {printable(repr(certificate.dataset))}."
    if account.remaining is not None and account.total is not None:
        what += f" Left: {shown(account.remaining.epsilon)} of {shown(account.total.epsilon)}."
    click.echo(what)


def save(path: str, published: Release | Coreset, kind: str, options: Shared) -> None:
    """Write what is published as a picture or a page; what was paid for is not lost where that cannot be drawn."""
    from covey.files import write_whole
    from covey.published.export import contents

    name = options.dataset or "Private centres"
    try:
        content = contents(published, kind, name=name, lon=options.lon, lat=options.lat)
    except Exception as error:
        what = f"out: {path!r} could not be drawn ({type(error).__name__}); the release is whole"
        raise DataError(what) from None
    write_whole(path, content)


def save_json(path: str, document: dict[str, Any]) -> None:
    from covey.files import write_whole

    write_whole(path, (json.dumps(document, indent=2) + "\n").encode())


def print_bytes(content: bytes) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()
