"""Files that are written in an unusual way, or are none: separators, marks, encodings, quotes, headers."""

from __future__ import annotations

import gzip

from tests.data.sources.nasty import AGES, GOOD, MARKERS, ROWS, SEXES, Nasty, cells, plain, swapped, written

FIRST = tuple(AGES[:3])
GERMAN = swapped(cells(marker=[1000 + m for m in MARKERS]), ".", ",")
REFUSED_PAGE = "an error that shows a word in each code page"
LARGE = [12_345.67 + 1_000 * i for i in range(ROWS)]


def read(name: str, about: str, content: bytes, done: str, **kinds: str) -> Nasty:
    """A file that is read as the good table, perhaps with more columns."""
    return Nasty(name, about, content, done, GOOD | kinds, age=FIRST)


def none(name: str, about: str, content: bytes, error: str, done: str = "an error that says so") -> Nasty:
    """A file that is refused as a whole."""
    return Nasty(name, about, content, done, error=error)


def grouped(mark: str, point: str) -> list[str]:
    """Large numbers with a mark between thousands, quoted where that is a comma."""
    quote = '"' if "," in (mark, point) else ""
    return [f"{quote}{value:,.2f}{quote}".replace(",", "#").replace(".", point).replace("#", mark) for value in LARGE]


FILES = (
    read("plain.csv", "commas and points", plain(cells()), "read"),
    read("semicolons.csv", "semicolons, decimal points", written(cells(), ";").encode(), "read"),
    read("german.csv", "semicolons, decimal commas", written(GERMAN, ";").encode(), "read"),
    read("tabs.tsv", "tabs", written(cells(), "\t").encode(), "read"),
    read("tabs.txt", "tabs, .txt", written(cells(), "\t").encode(), "read"),
    read("tabs-comma.tsv", "tabs, decimal commas", written(swapped(cells(), ".", ","), "\t").encode(), "read"),
    read("pipes.csv", "vertical bars", written(cells(), "|").encode(), "read"),
    read("tabs-in.csv", "tabs in a file that ends in .csv", written(cells(), "\t").encode(), "read"),
    read("bom.csv", "a byte-order mark", b"\xef\xbb\xbf" + plain(cells()), "read; the mark is no part of the first name"),
    read("utf16.csv", "UTF-16, as Excel's 'Unicode text'", written(cells(), "\t").encode("utf-16"), "read"),
    read("utf16be.csv", "UTF-16, big-endian", b"\xfe\xff" + written(cells()).encode("utf-16-be"), "read"),
    read(
        "windows.csv",
        "Windows-1252 with umlauts",
        written(cells(Größe=["klein", "groß"] * (ROWS // 2)), ";").encode("cp1252"),
        "read, the encoding said",
        Größe="multinomial",
    ),
    read(
        "french.csv",
        "Windows-1252 in French, with œ, è and ê",
        written(cells(état=["œdème", "même", "très sévère", "fièvre"] * (ROWS // 4)), ";").encode("cp1252"),
        "read, the encoding said",
        état="multinomial",
    ),
    none(
        "polish.csv",
        "Windows-1250, Central European: 'kobieta' and 'mężczyzna'",
        written(cells(sex=["kobieta", "mężczyzna"] * (ROWS // 2)), ";").encode("cp1250"),
        "'mężczyzna' in windows-1250",
        REFUSED_PAGE,
    ),
    none(
        "czech.csv",
        "Windows-1250 without a sign that Windows-1252 does not have: 'léčba'",
        written(cells(arm=["léčba", "kontrola"] * (ROWS // 2)), ";").encode("cp1250"),
        "'léčba' in windows-1250",
        REFUSED_PAGE,
    ),
    none(
        "russian.csv",
        "Windows-1251, Cyrillic: 'да' and 'нет'",
        written(cells(smoker=["да", "нет"] * (ROWS // 2)), ";").encode("cp1251"),
        "'да' in windows-1251",
        REFUSED_PAGE,
    ),
    none(
        "turkish.csv",
        "Windows-1254: 'kadın' and 'erkek'",
        written(cells(sex=["kadın", "erkek"] * (ROWS // 2)), ";").encode("cp1254"),
        "'kadın' in windows-1254",
        REFUSED_PAGE,
    ),
    none(
        "dos.csv",
        "DOS' cp850 with umlauts",
        written(cells(sex=["männlich", "weiblich"] * (ROWS // 2)), ";").encode("cp850"),
        "'männlich' in cp850",
        REFUSED_PAGE,
    ),
    read("sep.csv", "a first line 'sep=;'", b"sep=;\r\n" + written(GERMAN, ";", "\r\n").encode(), "read without that line"),
    read("crlf.csv", "line ends of Windows", written(cells(), end="\r\n").encode(), "read"),
    read("cr.csv", "line ends of old Macs", written(cells(), end="\r").encode(), "read"),
    read(
        "quoted.csv",
        "every field in quotation marks, numbers too",
        written(cells(), quote='"').encode(),
        "read; quoted numbers are numbers",
    ),
    read(
        "single.csv",
        "single quotation marks around fields with commas",
        plain(cells(place=["'Münster, Westf.'", "'Marburg'"] * 20)),
        "read",
        place="multinomial",
    ),
    read(
        "newlines.csv",
        "commas, quotation marks and line ends inside quoted text",
        plain(cells(place=['"Münster,\nWestf."', '"the ""old"" town"'] * 20)),
        "read",
        place="multinomial",
    ),
    read("spaces.csv", "spaces around names and values", plain([[f" {cell} " for cell in row] for row in cells()]), "read without them"),
    read("blank.csv", "blank lines at the end", plain(cells()) + b"\n\n\n", "read; blank lines are no rows"),
    read("no-end.csv", "no line end at the end", plain(cells()).rstrip(), "read"),
    read(
        "trailing.csv", "a separator at the end of every line", written(cells(), ";", ";\n").encode(), "read; the empty column is left out"
    ),
    read("packed.csv.gz", "packed by gzip", gzip.compress(plain(cells()), mtime=0), "read"),
    read(
        "index.csv",
        "a nameless column that counts rows, as pandas writes it",
        plain([["", *cells()[0]], *([str(i), *row] for i, row in enumerate(cells()[1:]))]),
        "read; the nameless column is excluded, and that is said",
    ),
    read(
        "commas-in-comma.csv",
        "commas, and decimal commas in quotation marks",
        written(swapped(cells(), ".", ","), quote='"').encode(),
        "read as decimal commas, and that is said",
    ),
    read("english.csv", "1,234.56", plain(cells(cost=grouped(",", "."))), "read as numbers", cost="continuous"),
    read("swiss.csv", "1'234.56", written(cells(cost=grouped("'", ".")), ";").encode(), "read as numbers", cost="continuous"),
    read(
        "thousands.csv",
        "1.234,56",
        written(
            swapped(cells(), ".", ",")[:1]
            + [
                [*row[:3], cost]
                for row, cost in zip(swapped(cells(), ".", ",")[1:], [c.strip('"') for c in grouped(".", ",")], strict=True)
            ],
            ";",
        )
        .replace("age;marker;sex\n", "age;marker;sex;cost\n")
        .encode(),
        "read as numbers",
        cost="continuous",
    ),
    read(
        "emoji.csv",
        "names with signs, spaces and a small picture",
        plain(cells(**{"σ² (z-score) 🫀": MARKERS})),
        "read",
        **{"σ² (z-score) 🫀": "continuous"},
    ),
    read(
        "patterns.csv",
        "names that are patterns to some programs",
        plain(cells(**{"^a.*$": MARKERS, "*": AGES})),
        "read",
        **{"^a.*$": "continuous", "*": "continuous"},
    ),
    none("twice.csv", "two columns of one name", plain([["age", "age"], ["1", "2"]]), "two columns named"),
    Nasty(
        "no-header.csv",
        "no names above the rows",
        plain(cells()[1:]),
        "read, with the doubt said",
        {str(AGES[0]): "continuous", str(MARKERS[0]): "continuous", SEXES[0]: "multinomial"},
    ),
    none("r.txt", "spaces, and a name before each row, as R writes", b"age sex\n1 61 m\n2 70 f\n3 55 f\n", "separated by spaces"),
    none("ragged.csv", "a row with more fields than the header", plain(cells()) + b"1,2,male,4,5\n", str(ROWS + 2)),
    none(
        "short.csv",
        "a row with fewer fields than the header",
        plain(cells()) + b"1\n" + plain(cells())[18:],
        str(ROWS + 2),
        "an error that names the line",
    ),
    none("empty.csv", "nothing", b"", "empty"),
    none("header.csv", "a header and no row", b"age,marker,sex\n", "row"),
    none("picture.csv", "a picture that was given another ending", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(range(256)), "text"),
    none("archive.csv", "a ZIP archive that was given another ending", b"PK\x03\x04" + bytes(200), "text"),
    none("page.csv", "an HTML page that was saved as a table", b"<!DOCTYPE html>\n<html><body><h1>Login</h1></body></html>\n", "HTML"),
    none("open.csv", "a quotation mark that is never closed", plain(cells()) + b'61.5,200.0,"female\n', "quot"),
    none("words.doc", "an ending that is no table's", b"age\n1\n", ".doc"),
    none("broken.csv.gz", "gzip that was cut off", gzip.compress(plain(cells()), mtime=0)[:60], "gz"),
    none("broken.parquet", "Parquet that is none", b"PAR1" + bytes(50), "parquet"),
)
assert len({one.name for one in FILES}) == len(FILES)
assert len(SEXES) == ROWS
