"""The same study on the network of NVIDIA FLARE, for federations that already run it.

FLARE carries the messages, knows who its participants are (mutual TLS, provisioning) and starts a process for each of them in a job; what
is said in them is the protocol that a study server speaks, between the same two halves. Its server sees masked messages alone.

================  ============================================================================================
``names``         what a job, a task and a start-up kit have of ours, by name
``job``           a study as a job folder, to submit with FLARE's own tools
``card``          what a site gives the study's owner: its name and its public identity
``kit``           what the owner of a start-up kit sets in it: the table, consent, and which class may be run
``participant``   a site in a job: bytes in, bytes out, from its own settings; knows nothing of FLARE
``executor``      that site as FLARE's executor
``links``         sites that are reached by tasks, for the transport that all networks share
``journal``       sums on disk, so that a job that was cut off can be submitted again
``leading``       the study on the server: tests, replicates, graphs, effects; knows nothing of FLARE
``controller``    that study as FLARE's controller
================  ============================================================================================

Needs the extra ``consilience[nvflare]``. ``executor`` and ``controller`` import FLARE, nothing else does. Nothing in here prints.
"""
