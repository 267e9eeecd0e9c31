"""Words of many languages in their code pages: those of Western Europe are taken for Windows-1252, others are not."""

from __future__ import annotations

import pytest

from consilience.data.errors import ReadError
from consilience.data.sources import Reading, load_bytes
from consilience.data.sources.codepages import likely, unlike_western

WESTERN = {
    "German": "Größe männlich Müller Straße Übergewicht Ärztin Zürich Café",
    "French": "sévère très élevé œdème cœur fièvre siècle où déjà même âge sûr garçon naïf hôpital bibliothèque créée première brûlure",
    "Spanish": "sí niño años corazón presión también España cigüeña última Núñez ¿fuma",
    "Portuguese": "não coração corações pulmões mãe irmãs três você êxito ciência órgão põe cãibra àquele alemã",
    "Italian": "sì città più perché così caffè lunedì età però virtù",
    "Danish": "køn mænd miljø læge øje død små Århus træ søen køer ældre hjælp",
    "Norwegian": "høy øye støy være gjør kjønn får",
    "Swedish": "kön män själv också små hög läkare måndag",
    "Icelandic": "það með sjúklingur læknir þjóð alþingi norður sýking íþrótt",
    "Dutch": "patiënt coördinatie één beïnvloed ruïne België geïnd",
    "Catalan": "València història sèrie òrgan més veïna pràctica àrea",
    "units": "m² m³ cm³ µg °C Nº ½",
}
OTHERS = {
    ("Polish", "windows-1250"): "płeć mężczyzna łagodny był są dzień nadciśnienie",
    ("Czech", "windows-1250"): "věk léčba příznak člověk lékař začátek průměr důvod",
    ("Slovak", "windows-1250"): "liečba začiatok ľahký pľúca",
    ("Hungarian", "windows-1250"): "férfi nő súlyos tüdő vérnyomás",
    ("Romanian", "windows-1250"): "bărbat vârstă uşor sănătos naştere viaţă",
    ("Croatian", "windows-1250"): "već kuća čovjek liječenje",
    ("Turkish", "windows-1254"): "kadın yaş ağır hayır değil şiddetli",
    ("Russian", "windows-1251"): "мужской женский да нет тяжёлый",
    ("Ukrainian", "windows-1251"): "чоловік жінка так ні вік",
    ("Bulgarian", "windows-1251"): "мъж жена възраст",
    ("Greek", "windows-1253"): "άνδρας γυναίκα ηλικία ναι όχι",
}


def words(text: str, encoding: str) -> list[bytes]:
    return [word.encode(encoding) for word in text.split() if not word.isascii()]


@pytest.mark.parametrize("language", WESTERN)
def test_words_of_western_europe_are_not_refused(language: str) -> None:
    assert unlike_western(words(WESTERN[language], "windows-1252")) is None


@pytest.mark.parametrize(("language", "encoding"), OTHERS)
def test_words_of_other_code_pages_are_not_taken_for_western_ones(language: str, encoding: str) -> None:
    found = words(OTHERS[language, encoding], encoding)
    assert unlike_western(found) in found
    assert likely(found)[0] == encoding


@pytest.mark.parametrize(("language", "encoding"), OTHERS)
def test_a_file_of_them_is_refused_with_its_code_page_first_and_read_when_that_is_given(language: str, encoding: str) -> None:
    text = "word;n\n" + "".join(f"{word};{place}\n" for place, word in enumerate(OTHERS[language, encoding].split()))
    with pytest.raises(ReadError, match=f"in {encoding}, ") as caught:
        load_bytes(text.encode(encoding), "site.csv", "here")
    assert caught.value.findings[0].remedies[0].value == encoding
    found = load_bytes(text.encode(encoding), "site.csv", "here", Reading(encoding=encoding)).frame
    assert found["word"].to_list() == OTHERS[language, encoding].split()


def test_german_words_among_a_few_czech_ones_do_not_hide_them() -> None:
    """Umlauts are the same in both code pages, and tell nothing."""
    assert unlike_western(words("Größe Müller Ärztin Übergewicht Straße schön léčba", "windows-1250")) == "léčba".encode("cp1250")


def test_a_foreign_name_among_french_words_does_not_make_a_file_unreadable() -> None:
    assert unlike_western(words(f"{WESTERN['French']} Põlva", "windows-1252")) is None


@pytest.mark.parametrize("block", [1, 3, 7, 64])
def test_words_are_whole_wherever_a_block_ends(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of "años" would end with ñ, which no Spanish word does."""
    monkeypatch.setattr("consilience.data.sources.content.BLOCK", block)
    (notice,) = load_bytes("n;años\n1;España\n2;señor\n".encode("cp1252"), "site.csv", "here").findings
    assert "'años'" in notice.words
