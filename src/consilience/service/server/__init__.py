"""The study server.

=============  ==========================================================================
``app``        the FastAPI factory
``serve``      the application behind a socket
``models``     what the REST interface takes and gives
``routes``     accounts, studies, results, progress, operations
``passwords``  argon2
``limits``     how many attempts an address may make
``hub``        the sites' connections, and the bridge to the runs' threads
``socket``     one site's WebSocket: challenge, consent, answers
``runner``     runs of studies: begin, go on after a crash, end
``searching``  the queue of searches for graphs, done by worker processes
``metrics``    counters in Prometheus' text format
=============  ==========================================================================
"""

from consilience.service.server.app import create_app

__all__ = ["create_app"]
