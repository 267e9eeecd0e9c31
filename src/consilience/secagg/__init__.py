"""Secure aggregation: keys, fixed-point numbers and masks, so that a server learns a sum and no term of it.

1. Every site has a long-term :class:`Identity`. People compare fingerprints and pin them.
2. For a run, every site makes a :class:`RunKey` and sends its :class:`SignedKey`. Each pair derives :func:`pair_secret`.
3. For a round, a site claims the round id in its :class:`RoundBook`, encodes its numbers in the ring Z/2¹²⁸
   (:func:`encode`) and hides them (:func:`mask`) under one stream for every other site of the :class:`Roster`.
4. The server adds what it receives (:func:`total`); the masks cancel exactly, and :func:`decode` gives the sum.
5. When a site drops out, the round is lost: a new one starts with :meth:`Roster.without` and a new id.

No network and no statistics in here; the primitives are those of ``cryptography``.

>>> run = b"run 7"
>>> agreed = Binding(b"study", contract=bytes(32))
>>> keys = [RunKey.generate(Identity.generate(), run, agreed) for _ in range(3)]
>>> roster = Roster(run, [key.fingerprint for key in keys])
>>> def send(key, numbers):
...     secrets = {other.fingerprint: pair_secret(key, other.signed, run) for other in keys if other is not key}
...     round_id = RoundBook(run).claim(0)
...     return mask(encode(numbers, terms=len(roster)), key.fingerprint, secrets, round_id, roster)
>>> decode(total([send(keys[0], [1.5, 2.0]), send(keys[1], [0.25, -4.0]), send(keys[2], [0.0, 0.0])]))
array([ 1.75, -2.  ])

Reference: K. Bonawitz et al., Practical secure aggregation for federated learning on user-held data, 2016, arXiv:1611.04482.
"""

from consilience.secagg.agreement import Binding, RunKey, SignedKey, pair_secret, verify
from consilience.secagg.identity import Identity, fingerprint_of, fingerprint_text, read_fingerprint
from consilience.secagg.masks import mask
from consilience.secagg.ring import RingVector, decode, encode, total
from consilience.secagg.roster import Roster
from consilience.secagg.rounds import RoundBook

__all__ = [
    "Binding",
    "Identity",
    "RingVector",
    "Roster",
    "RoundBook",
    "RunKey",
    "SignedKey",
    "decode",
    "encode",
    "fingerprint_of",
    "fingerprint_text",
    "mask",
    "pair_secret",
    "read_fingerprint",
    "total",
    "verify",
]
