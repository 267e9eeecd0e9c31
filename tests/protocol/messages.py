"""One message of every kind, with fixed fields. ``wire.json`` has the bytes of each, recorded with version 5 of the protocol."""

from __future__ import annotations

from typing import Any

from consilience.citest.question import Question
from consilience.data.basis import Expansion
from consilience.data.responses import Coded
from consilience.data.spline import Knots
from consilience.glm.layout import Ordinal, SiteEffects
from consilience.protocol.diagnose import Diagnose, DiagnoseAsk
from consilience.protocol.evaluate import Evaluate, ModelAsk
from consilience.protocol.grid import Cells, Grid
from consilience.protocol.handshake import (
    Challenge,
    Checked,
    Closing,
    Consent,
    Declare,
    DeclareAsk,
    DeclaredVariable,
    Declined,
    Hello,
    Preview,
    Proof,
    Proposal,
    Token,
    TokenAsk,
    Waiting,
    Welcome,
)
from consilience.protocol.local_tests import LocalTests
from consilience.protocol.locate import Locate
from consilience.protocol.mean_products import MeanProducts, MeanSet
from consilience.protocol.messages import Announced, Answer, Entered, KeyAsk, KeyOffer, KeySet, Refused, Round, RoundRequest
from consilience.protocol.place import Place
from consilience.protocol.products import Products
from consilience.protocol.refit import LineAsk, Refit
from consilience.protocol.replicates import Replicate
from consilience.protocol.request import Request
from consilience.protocol.resampled import Part, Resampled
from consilience.protocol.residual_products import ProductAsk, ResidualProducts
from consilience.protocol.residuals import BasisAsk, MeanAsk
from consilience.protocol.standardise import StandardAsk, Standardise
from consilience.protocol.survey import Survey

MODEL = ModelAsk("C", ("A", "E"), ("A", "C", "E"), (0, 2), (0, 1), b"\x00" * 16, 0.0)
NUMBERS = ModelAsk("A", ("C",), ("A", "C"), (0,), (), b"\x00" * 8, 0.0)
BY_LEVEL = ModelAsk("C", ("E",), ("C", "E"), (0, 1, 2), (0, 1), b"\x00" * 24, 0.0)
CODED = Coded({"A": 8}, {"A": Knots(tuple(0.25 * i - 6.0 for i in range(49)))})
LINE = Expansion(("A",), 0, -1)
MEANS = (MeanAsk(0, "C", b"\x00" * 8, b"\x00" * 8, (-2,)), MeanAsk(0, "E", b"\x00" * 24, b"\x00" * 8, (0, 1, 2)))
HALVED = ProductAsk(0, 1, ("A", "C", "E"), (b"", b"\x00" * 24), (b"\x00" * 8,))
REQUESTS: dict[str, Request] = {
    "survey": Survey((("A", "C"), ("A",)), ("A",)),
    "locate": Locate(("A",), {"A": 8}),
    "products": Products((("A", "C"),), {"A": -16}, None, (Question("C", "E", ("A",)),), Ordinal.GENERALIZED, 0.5),
    "products with locations": Products((("A", "C"),), {"A": 0}, {"A": 61.5}),
    "refit": Refit((LineAsk("A", ("C",), ("A", "C"), (0,), bytes(8)),), {"A": 8}),
    "evaluate": Evaluate(3, (MODEL,), SiteEffects.JOINT, Ordinal.PROPORTIONAL, 4, {"A": 8}),
    "evaluate with locations": Evaluate(4, (), SiteEffects.NONE, Ordinal.PROPORTIONAL, 4, {"A": 8}, {"A": -2.25}),
    "diagnose": Diagnose((DiagnoseAsk(MODEL, (1, 0), 2), DiagnoseAsk(NUMBERS, (0,), 0, 1.5)), Ordinal.PROPORTIONAL, {"A": 8}),
    "standardise": Standardise(
        (StandardAsk(MODEL, "A", (-0.5, 0.5)), StandardAsk(NUMBERS, "C"), StandardAsk(BY_LEVEL, "E", (0.0, 2.0))),
        Ordinal.PROPORTIONAL,
        {"A": 8},
    ),
    "standardise with locations": Standardise((), Ordinal.PROPORTIONAL, {"A": 8}, {"A": -2.25}),
    "local tests, counted": LocalTests((Question("A", "C"),), Ordinal.PROPORTIONAL, 0.0, True, 2),
    "local tests": LocalTests((Question("A", "C", ("E",)),), Ordinal.PROPORTIONAL, 0.0, False, 2),
    "place": Place(("A",), {"A": 8}),
    "grid": Grid((Cells("A", b"\x00" * 8, True),), False),
    "means": MeanProducts((MeanSet(("A", "C"), Expansion(("A",), 2, 1), ("C",)),), CODED, True, False),
    "residuals": ResidualProducts(
        (BasisAsk(("A", "C"), LINE, b"\x00" * 8),),
        MEANS,
        (ProductAsk(0, 1, ("A", "C", "E")),),
        CODED,
        True,
        False,
        False,
        False,
        (Question("C", "E"),),
    ),
    "fourth moments": ResidualProducts(
        (BasisAsk(("A", "C"), LINE, b"\x00" * 8),),
        MEANS,
        (HALVED,),
        CODED,
        True,
        True,
        True,
        True,
    ),
}
REQUESTS["resampled"] = Resampled(
    (Part(Replicate(1), Survey((("A", "C"),)), (Announced(("A", "C"), 3, 120),)), Part(Replicate(2), Place(("A",), {"A": 8})))
)
OFFER = KeyOffer(b"run", b"i" * 32, b"x" * 32, b"s" * 64, b"00112233aabbccdd", b"c" * 32, b"statement")
FROM_SERVER: dict[str, Any] = {
    "challenge": Challenge(b"i" * 32, b"n" * 32, 1700000000, b"s" * 64),
    "welcome": Welcome("muenster", "00112233aabbccdd", "trial", "open", b"s" * 64),
    "declare?": DeclareAsk(),
    "preview": Preview(b"contract", b"s" * 64),
    "proposal": Proposal(b"contract", b"s" * 64),
    "waiting": Waiting("connect", 3, (("mainz", "not connected"),), 1),
    "key?": KeyAsk(b"run"),
    "keys": KeySet(b"run", (OFFER, OFFER)),
    "round": Round(RoundRequest(b"run", 7, b"roster", REQUESTS["survey"], (Announced(("A", "C"), 3, 120),))),  # type: ignore[arg-type]
    "token": Token("secret", 1700000000),
    "closing": Closing("finished", "3 PAGs"),
}
FROM_SITE: dict[str, Any] = {
    "hello": Hello(b"i" * 32, b"n" * 32),
    "proof": Proof(b"s" * 64, b"channel"),
    "declare": Declare((DeclaredVariable("A", "continuous", (), False, False, "float", ""),)),
    "consent": Consent(b"digest", b"s" * 64),
    "declined": Declined("no"),
    "checked": Checked(b"digest", fits=True),
    "key": OFFER,
    "entered": Entered(b"run"),
    "answer": Answer(b"run", 7, b"masked"),
    "refused": Refused("DisclosureError", "No sum over A."),
    "token?": TokenAsk(),
}
