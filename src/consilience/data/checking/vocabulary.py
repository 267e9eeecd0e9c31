"""Words that hospitals use for the same levels: English, German, French, Spanish, Italian, and some Dutch and Portuguese.

A *meaning* has words, which mean it wherever they stand, and *codings*, short signs that mean something only together: ``m`` is a man
beside ``f`` or ``w``, and a woman (*mujer*) beside ``h``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

__all__ = ["SUBJECTS", "Subject"]


class Subject(NamedTuple):
    """What levels can be about: for each meaning the words for it, and codings by short signs."""

    words: Mapping[str, str]
    codings: tuple[Mapping[str, str], ...] = ()


_YES, _NO = "yes", "no"
SUBJECTS: dict[str, Subject] = {
    "sex": Subject(
        {
            "male": "male man men boy maennlich mann herr junge masculin homme masculino hombre varon maschio maschile uomo "
            "mannelijk homem",
            "female": "female woman women girl weiblich frau maedchen feminin femme femenino femenina mujer femmina femminile donna "
            "vrouw vrouwelijk feminino mulher",
            "diverse": "diverse divers nonbinary intersex",
        },
        (
            {"m": "male", "f": "female"},
            {"m": "male", "w": "female", "d": "diverse"},
            {"h": "male", "f": "female"},
            {"h": "male", "m": "female"},
        ),
    ),
    "answer": Subject(
        {
            _YES: "yes true ja wahr oui vrai si vero verdadero sim positive positiv positif positivo present vorhanden vorliegend presente",
            _NO: "no false nein falsch non faux falso nao nee negative negativ negatif negativo absent nichtvorhanden ausente assente",
        },
        (
            {"y": _YES, "n": _NO},
            {"j": _YES, "n": _NO},
            {"o": _YES, "n": _NO},
            {"s": _YES, "n": _NO},
            {"t": _YES, "f": _NO},
            {"pos": _YES, "neg": _NO},
            {"p": _YES, "n": _NO},
            {"+": _YES, "-": _NO},
            {"1": _YES, "0": _NO},
        ),
    ),
    "side": Subject(
        {
            "left": "left links linksseitig gauche izquierda izquierdo sinistra sinistro",
            "right": "right rechts rechtsseitig droite droit derecha derecho destra destro",
            "both": "both bilateral beide beidseits beidseitig bilaterale ambos entrambi",
        },
        (
            {"l": "left", "r": "right", "b": "both"},
            {"g": "left", "d": "right", "b": "both"},
            {"i": "left", "d": "right", "b": "both"},
            {"s": "left", "d": "right", "b": "both"},
        ),
    ),
    "smoking": Subject(
        {
            "never": "never neversmoker neversmoked nie niemals nieraucher jamais jamaisfume nunca nuncafumador mai maifumatore",
            "former": "former formersmoker ex exsmoker past pastsmoker previous quit ehemalig ehemals ehemaliger ehemaligerraucher "
            "frueher exraucher ancien ancienfumeur exfumeur exfumador anterior exfumatore",
            "current": "current currentsmoker smoker smoking raucher aktuell aktiv aktiverraucher aktuellerraucher fumeur fumeuractuel "
            "actuel fumador actual fumatore attuale",
            "not": "nonsmoker nichtraucher nonfumeur nofumador nonfumatore",
        },
    ),
    "degree": Subject(
        {
            "none": "none keine kein keiner aucun aucune ninguno ninguna nessuno nessuna",
            "mild": "mild leicht leichtgradig leger legere leve lieve",
            "moderate": "moderate moderat mittel mittelgradig maessig modere moderee moderado moderada moderato moderata",
            "severe": "severe schwer schwergradig severo severa severee grave",
        },
    ),
    "height": Subject(
        {
            "low": "low niedrig tief bas basse faible bajo baja basso bassa",
            "middle": "medium middle mittel moyen moyenne medio media",
            "high": "high hoch eleve elevee haut haute alto alta",
        },
        ({"l": "low", "m": "middle", "h": "high"}, {"n": "low", "m": "middle", "h": "high"}),
    ),
    "life": Subject(
        {
            "alive": "alive living lebend lebt amleben vivant vivante vivo viva",
            "dead": "dead deceased died verstorben gestorben tot decede decedee mort morte fallecido fallecida muerto muerta deceduto "
            "deceduta morto morta",
        },
    ),
    "family": Subject(
        {
            "single": "single unmarried nevermarried ledig celibataire soltero soltera celibe nubile",
            "married": "married verheiratet marie mariee casado casada sposato sposata coniugato coniugata",
            "divorced": "divorced geschieden divorce divorcee divorciado divorciada divorziato divorziata",
            "widowed": "widowed widow widower verwitwet veuf veuve viudo viuda vedovo vedova",
        },
    ),
    "finding": Subject(
        {
            "normal": "normal normale unauffaellig ohnebefund ob",
            "abnormal": "abnormal pathologic pathological pathologisch auffaellig anormal anormale anomal pathologique patologico",
        },
    ),
    "stay": Subject(
        {
            "inpatient": "inpatient stationaer hospitalise hospitalizado ricoverato",
            "outpatient": "outpatient ambulatory ambulant ambulatoire ambulatorio ambulatoriale",
        },
    ),
    "frequency": Subject(
        {
            "never": "never nie niemals jamais nunca mai",
            "rarely": "rarely seldom selten rarement raramente",
            "sometimes": "sometimes manchmal gelegentlich parfois aveces avolte",
            "often": "often frequently oft haeufig souvent amenudo spesso",
            "always": "always immer toujours siempre sempre",
        },
    ),
}
"""By what they are about. A word may stand in several, with a meaning of each: *mittel* is moderate, and between low and high."""
