"""The contract's bytes: what sites sign must not change with the way settings are declared."""

from __future__ import annotations

import msgspec
import pytest

from consilience.data.kinds import Kind
from consilience.errors import ProtocolError
from consilience.service.contract import Contract, Member, decode_contract
from consilience.service.settings import VariableSpec
from consilience.settings import Batching, Dropout, NetworkSettings, Ordinal, Resolve, SingleSite, SiteEffects

VARIABLES = (
    VariableSpec("A", Kind.CONTINUOUS),
    VariableSpec("B", Kind.BINARY, ("0", "1")),
    VariableSpec("C", Kind.ORDINAL, ("I", "II", "III")),
)
DATASETS = (("A", "B"), ("B", "C"))
MEMBERS = (Member("marburg", bytes(range(32))), Member("muenster", bytes(range(32, 64))))
PLAIN = Contract("00112233aabbccdd", "trial", VARIABLES, DATASETS, NetworkSettings(resolve=Resolve.STRICT), MEMBERS)
AUTO = Contract("00112233aabbccdd", "trial", VARIABLES, DATASETS, NetworkSettings(), MEMBERS)
OTHER = NetworkSettings(
    resolve=Resolve.STRICT,
    alpha=0.01,
    max_given=2,
    site_effects=SiteEffects.NONE,
    ordinal=Ordinal.GENERALIZED,
    ridge=0.5,
    limit=7,
    time_limit=60.0,
    tiers=(("A",), ("B", "C")),
    required=("A => B",),
    forbidden=("C => A",),
    batching=Batching.ALL,
    min_contributors=3,
    min_rows=50,
    single_site=SingleSite.REFUSE,
    on_dropout=Dropout.RESTART,
    return_seconds=30.0,
)
CHANGED = Contract("00112233aabbccdd", "trial", VARIABLES, DATASETS, OTHER, MEMBERS, queried=True)

# recorded with version 5 of the protocol; a new setting changes them, and with them the version of the protocol
PLAIN_BYTES = (
    "88a57374756479b030303131323233336161626263636464a46e616d65a5747269616ca97661726961626c65739393a141aa636f6e74696e756f75739093a142"
    "a662696e61727992a130a13193a143a76f7264696e616c93a149a24949a3494949a864617461736574739292a141a14292a142a143a873657474696e6773de00"
    "21a5616c706861cb3fa999999999999aa96d61785f676976656ec0a66d6574686f64a56665646369ac736974655f65666665637473a870726f66696c6564a76f"
    "7264696e616cac70726f706f7274696f6e616ca57269646765cb0000000000000000a6656e67696e65a56578616374a77265736f6c7665a6737472696374ae73"
    "656c656374696f6e5f62696173c2a56c696d6974cd2710aa74696d655f6c696d6974cb40ac200000000000a776617269616e74a7747269706c6573a574696572"
    "7390a8726571756972656490a9666f7262696464656e90a86261746368696e67a66c6576656c73b06d696e5f636f6e7472696275746f727302a86d696e5f726f"
    "77730aab73696e676c655f73697465a56c6f63616caa6f6e5f64726f706f7574a473746f70ab616c6c6f775f6a6f696e74c2af636f6e73656e745f7365636f6e"
    "6473cb4122750000000000ae72657475726e5f7365636f6e6473cb408c200000000000ad726f756e645f7365636f6e6473cb4082c00000000000ab736974655f"
    "736c6f706573c3ac616c7465726e617469766573a66c696e656172a7636c7573746572c0ac736d616c6c5f73616d706c65c3ab646961676e6f7374696373c3a9"
    "69736f6c6174696f6ea9616767726567617465a86d696e5f63656c6c05a9626f6f74737472617000ad6c656176655f6f6e655f6f7574c2a76d656d6265727392"
    "92a76d617262757267c420000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f92a86d75656e73746572c420202122232425262728"
    "292a2b2c2d2e2f303132333435363738393a3b3c3d3e3fa771756572696564c2a776657273696f6e05"
)
PLAIN_DIGEST = "4f27ebfe5b2442783a88b02229265a7d85194cb39ee13a4ff9254afc1de16ed0"
CHANGED_BYTES = (
    "88a57374756479b030303131323233336161626263636464a46e616d65a5747269616ca97661726961626c65739393a141aa636f6e74696e756f75739093a142"
    "a662696e61727992a130a13193a143a76f7264696e616c93a149a24949a3494949a864617461736574739292a141a14292a142a143a873657474696e6773de00"
    "21a5616c706861cb3f847ae147ae147ba96d61785f676976656e02a66d6574686f64a56665646369ac736974655f65666665637473a46e6f6e65a76f7264696e"
    "616cab67656e6572616c697a6564a57269646765cb3fe0000000000000a6656e67696e65a56578616374a77265736f6c7665a6737472696374ae73656c656374"
    "696f6e5f62696173c2a56c696d697407aa74696d655f6c696d6974cb404e000000000000a776617269616e74a7747269706c6573a574696572739291a14192a1"
    "42a143a8726571756972656491a641203d3e2042a9666f7262696464656e91a643203d3e2041a86261746368696e67a3616c6cb06d696e5f636f6e7472696275"
    "746f727303a86d696e5f726f777332ab73696e676c655f73697465a6726566757365aa6f6e5f64726f706f7574a772657374617274ab616c6c6f775f6a6f696e"
    "74c2af636f6e73656e745f7365636f6e6473cb4122750000000000ae72657475726e5f7365636f6e6473cb403e000000000000ad726f756e645f7365636f6e64"
    "73cb4082c00000000000ab736974655f736c6f706573c3ac616c7465726e617469766573a66c696e656172a7636c7573746572c0ac736d616c6c5f73616d706c"
    "65c3ab646961676e6f7374696373c3a969736f6c6174696f6ea9616767726567617465a86d696e5f63656c6c05a9626f6f74737472617000ad6c656176655f6f"
    "6e655f6f7574c2a76d656d626572739292a76d617262757267c420000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f92a86d7565"
    "6e73746572c420202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3fa771756572696564c3a776657273696f6e05"
)
# recorded when contradictions came to be resolved unless a study says otherwise
AUTO_BYTES = PLAIN_BYTES.replace(b"\xa7resolve\xa6strict".hex(), b"\xa7resolve\xa4auto".hex())
AUTO_DIGEST = "51a57d085832f879dff5dbef927d6f9f922bd36cf1b7f0bd4cae9ad44366f8c3"
CHANGED_DIGEST = "4a285fb1a54886461632fc6b65bbceb764d0116290b639f178097d9b3182e5a3"


@pytest.mark.parametrize(
    ("contract", "encoded", "digest"),
    [(PLAIN, PLAIN_BYTES, PLAIN_DIGEST), (AUTO, AUTO_BYTES, AUTO_DIGEST), (CHANGED, CHANGED_BYTES, CHANGED_DIGEST)],
    ids=["plain", "auto", "changed"],
)
def test_an_encoded_contract_is_the_recorded_bytes(contract: Contract, encoded: str, digest: str) -> None:
    assert contract.encoded().hex() == encoded
    assert contract.digest.hex() == digest
    assert decode_contract(bytes.fromhex(encoded)) == contract


def test_a_contract_has_no_setting_that_only_a_program_of_its_own_may_leave_open() -> None:
    for name in ("limit", "time_limit"):
        open_ended = msgspec.structs.replace(PLAIN, settings=NetworkSettings(**{name: None}))
        with pytest.raises(ProtocolError):
            decode_contract(open_ended.encoded())
