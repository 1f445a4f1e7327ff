"""Bugs in what a row is: records of files that count as several rows or none, or reach the rows of others."""

from mutants.planting import mutant

RECORDS = "engines/test_records.py::"
BLOCKS = "unit/private/test_csv_blocks.py::"
READER = "private.tables.csv.records:"
MISSING = "unit/private/test_missing.py::"

MUTANTS = (
    mutant(
        "lines-instead-of-records",
        "a CSV is read by lines: whoever has a value of a hundred line breaks has a hundred rows more",
        READER + "marks",
        {"quotes = np.flatnonzero(codes == QUOTE)": "quotes = np.flatnonzero(codes == QUOTE)[:0]"},
        killer=BLOCKS + "test_records_are_those_of_python",
    ),
    mutant(
        "quotes-forgotten-between-blocks",
        "a block ends at its last newline, also where that stands in a value",
        READER + "_last_end",
        {"if b'\"' not in text:": "if True:"},
        killer=RECORDS + "test_one_record_is_one_row[csv-all-11]",
    ),
    mutant(
        "long-record-cut",
        "a record that is too long ends at the limit, and its rest is read as other people's rows",
        READER + "blocks",
        {"rest = _shortened(rest, comma)": "rest = rest[:0]"},
        killer=RECORDS + "test_a_record_beyond_the_limit_is_one_row_of_missing_values_that_nobody_owns[csv]",
    ),
    mutant(
        "long-record-closed",
        "a record that is too long is taken to be outside quotes from the limit on",
        READER + "_shortened",
        {'return (b\'"\' if inside else b"") +': "return"},
        killer=BLOCKS + "test_a_record_that_is_too_long_is_read_to_its_end_and_is_one_row_in_any_cut",
    ),
    mutant(
        "long-record-dropped",
        "a record that is too long is no row: the number of rows, which may be public, tells that it is there",
        "private.tables.csv.reader:_read",
        {"table if rows is None else table.take(rows)": "table"},
        killer=BLOCKS + "test_a_record_that_is_too_long_is_read_to_its_end_and_is_one_row_in_any_cut",
    ),
    mutant(
        "empty-line-dropped",
        "a missing value in a file of one column is no row",
        "private.tables.csv.reader:_count",
        {"if cells == 1": "if cells == 0"},
        killer=RECORDS + "test_a_missing_value_in_a_single_column_is_a_row[polars]",
    ),
    mutant(
        "ids-lose-returns",
        "a carriage return in an id is a space: two people are one",
        "private.tables.csv.reader:_read",
        {"exact=bool(texts)": "exact=False"},
        killer=BLOCKS + "test_ids_are_the_cells_as_they_stand",
    ),
    mutant(
        "strange-date-of-a-sheet-dropped",
        "a row with a date beyond all calendars, in any column, is no row",
        "private.tables.excel:_rows",
        {"row = blank": "continue"},
        killer="unit/private/test_excel_files.py::test_a_date_beyond_all_calendars_is_a_row_and_no_error",
    ),
    mutant(
        "tags-in-texts-of-a-sheet",
        "a value that looks like a tag claims as many blank rows as it says",
        "private.tables.excel:_last_row",
        {"(done := text.find(TEXT_END, done)) < 0": "False"},
        killer="unit/private/test_excel_files.py::test_a_tag_in_the_text_of_the_last_row_is_no_row",
    ),
    mutant(
        "blank-rows-of-a-sheet-dropped",
        "a person without values at the end of a sheet is no row: the number of rows tells of it",
        "private.tables.excel:SheetPart._column",
        {"pa.nulls(self._blank, cells.type)": "pa.nulls(0, cells.type)"},
        killer="unit/private/test_excel_files.py::test_blank_rows_at_the_end_that_the_file_holds_are_rows",
    ),
    mutant(
        "points-by-majority",
        "whether a column of points is text or binary is decided by all cells: one person's takes away those of others",
        "private.tables.points:points_of",
        {"if others.size:": "if others.size == len(x):"},
        killer="unit/private/test_points.py::test_what_is_no_point_is_missing_and_moves_no_other",
    ),
    mutant(
        "brackets-in-texts",
        "a bracket in a text of GeoJSON opens or closes: one person's property takes in the features of others",
        "private.tables.json.records:nesting",
        {"np.where(inside, 0, steps)": "steps"},
        killer="unit/private/test_points.py::test_brackets_in_a_text_open_and_close_nothing",
    ),
    mutant(
        "long-line-dropped",
        "a line of JSON that is too long is no row",
        "private.tables.json.records:_lines",
        {"len(line) > LONGEST_RECORD or (": "len(line) <= LONGEST_RECORD and ("},
        killer="unit/private/test_json_lines.py::test_any_cut_of_the_bytes_gives_the_same_lines",
    ),
    mutant(
        "reading-forgotten",
        "a key returns a release of rows that were read in another way",
        "fit.fit:Request.fingerprint",
        {"if not reading else": "if True else"},
        killer="unit/private/test_csv_dialects.py::test_how_a_file_is_read_is_part_of_the_request",
    ),
    mutant(
        "one-missing-id-rounds-all",
        "ids in a list get a common type: a missing one makes people with long numbers one person",
        "private.tables.whose:_array",
        {'hasattr(ids, "dtype")': "True"},
        killer="unit/private/test_ids_beside_rows.py::test_no_id_of_a_list_changes_another",
    ),
    mutant(
        "system-from-a-row",
        "what the coordinates are called comes from a value of the first feature, where the document names no system",
        "private.tables.json.reader:_members",
        {", end + int(np.argmax(depth[end:] < 2))": ""},
        killer="unit/private/test_points.py::test_no_value_of_a_feature_is_taken_for_the_system_of_coordinates",
    ),
    mutant(
        "long-feature-cut",
        "a feature that is too long ends at the limit, and its rest is read as other people's rows",
        "private.tables.json.records:_shortened",
        {'b"[" * int(depth[-1])': 'b""'},
        killer="unit/private/test_json_lines.py::test_a_value_that_is_too_long_is_one_that_cannot_be_read_in_any_cut",
        dies_of=("EOFError",),
    ),
    mutant(
        "records-by-the-stack",
        "a record that is nested deeply is read in one pass and missing in another, by what is left of the stack",
        "private.tables.json.records:decoded",
        {"nesting(text)[1].max() > MOST_DEPTH": "False"},
        killer="unit/private/test_json_lines.py::test_what_a_record_says_does_not_depend_on_how_deep_the_caller_is",
    ),
    mutant(
        "thinned-query-runs-again",
        "coins are thrown for the rows of one run of a query, and those of another run are sent",
        "fit.node:thin",
        {"if not isinstance(table, ArrayTable | FrameTable):": "if False:"},
        killer="unit/fit/test_zones.py::test_a_query_is_not_thinned",
        dies_of=("IndexError",),
    ),
    mutant(
        "types-tell-of-rows-that-stay",
        "a thinned table of pandas carries the values of all rows in an Arrow type",
        "private.tables.kept:_some_of_pandas",
        {'hasattr(kind, "pyarrow_dtype")': "False"},
        killer="unit/fit/test_zones.py::test_a_type_that_lists_its_values_does_not_tell_of_rows_that_stay",
    ),
    mutant(
        "rows-beside-a-geopackage",
        "passes over a GeoPackage see what another program has written since, beside the file that is watched",
        "private.tables.geography:_alone",
        {'return {"IMMUTABLE": "YES"}': "return {}"},
        killer="unit/private/test_points.py::test_rows_that_another_program_writes_beside_a_geopackage_are_not_read",
    ),
    mutant(
        "letters-that-change-others",
        "an encoding is taken in which a person's letters change how all that follow are read",
        "files:_encoding",
        {'LETTERS.decode(known, "replace") == apart': "True"},
        killer="unit/private/test_csv_dialects.py::test_what_makes_no_sense_is_refused_by_its_name",
    ),
    mutant(
        "points-of-texts",
        "one text that is no number, among coordinates that are texts, ends the fit after the charge",
        "private.tables.points:_may_hold_points",
        {"arrow_is_numeric(known[axis])": "True"},
        killer="unit/private/test_points.py::test_a_type_whose_cells_could_be_errors_is_no_column_of_points",
    ),
    mutant(
        "file-counted-twice",
        "a link to a file in the same folder counts everybody in it twice",
        "private.tables.folders:check_distinct",
        {"if other != path and file.number:": "if False:"},
        killer="unit/private/test_data_sets.py::test_a_file_that_is_there_twice_is_refused",
    ),
    mutant(
        "pattern-counted-twice",
        "a file that two choices of a Spark pattern name counts everybody in it twice",
        "private.tables.spark:counts_twice",
        {"return len(set(read)) < len(read)": "return False"},
        killer="unit/private/test_data_sets.py::test_a_file_that_a_pattern_names_twice_is_known",
    ),
    mutant(
        "left-out-after-the-cap",
        "rows with a missing value are left out after the cap: of somebody with whole rows, none may count",
        "fit.fit:run",
        {
            "table = table if request.missing == MIDDLE else table.complete(domain)": "pass",
            "domain=domain, run=first)\n    sampled": (
                "domain=domain, run=first)\n"
                "    if request.missing != MIDDLE:\n"
                "        capped = replace(capped, table=capped.table.complete(domain))\n"
                "    sampled"
            ),
        },
        killer=MISSING + "test_rows_are_left_out_before_the_cap",
    ),
    mutant(
        "left-out-under-replace-one",
        "rows with a missing value are left out where the number of rows is told without noise",
        "private.narrowed.missing:check_missing",
        {"if missing == DROP and neighbours is Neighbours.REPLACE_ONE:": "if False:"},
        killer=MISSING + "test_the_number_of_rows_that_replace_one_tells_is_that_of_all_rows",
    ),
    mutant(
        "left-out-with-others",
        "a missing value leaves out all rows that are read with it",
        "private.narrowed.missing:_complete",
        {"is_missing(values).any(axis=0)": "np.full(values.shape[1], is_missing(values).any())"},
        killer=MISSING + "test_one_row_more_is_one_row_more_or_none",
    ),
    mutant(
        "left-out-but-counted",
        "how many rows of a person count is chosen by rows that are left out too",
        "private.narrowed.missing:_complete_with_ids",
        {"return values[:, stays], ids.filter(stays)": "return values, ids"},
        killer=MISSING + "test_a_person_more_changes_nobody_elses_rows_and_one_entry_of_the_tally",
    ),
    mutant(
        "date-that-raises",
        "a day that no calendar has is an error: it tells that somebody has written one",
        "private.tables.dates:_of_text",
        {"except ValueError:\n        return -1": "except ValueError:\n        raise"},
        killer="unit/private/test_dates.py::test_text_is_read_as_iso_8601_by_the_clock_that_it_shows",
        dies_of=("ValueError",),
    ),
    mutant(
        "dates-cast-together",
        "texts of dates are made valid together: one cell that is no text decides on all that are read with it",
        "private.tables.dates:_of_texts",
        {"known = cells.dictionary_encode()": "known = cells.cast(pa.string()).dictionary_encode()"},
        killer="unit/private/test_dates.py::test_nothing_raises_because_of_a_cell_and_no_other_cell_changes",
        dies_of=("ArrowInvalid",),
    ),
    mutant(
        "coverage-of-32-bits",
        "counts of coverage overflow beyond two thousand million rows",
        "private.covers:Runs.counts",
        {"change = np.zeros(math.prod(shape), dtype=np.int64)": "change = np.zeros(math.prod(shape), dtype=np.int32)"},
        killer="property/test_max_cover_properties.py::test_counts_are_exact_however_many_rows_there_are",
        dies_of=("UFuncTypeError", "OverflowError"),
    ),
)
