"""Processes that look for graphs and write reports, so that the server need not: each can be ended at any moment, and nothing is lost.

=============  ==========================================================================
``messages``   what a worker is asked for and what it tells, as bytes on a pipe
``working``    what a worker does: graphs from the tests of a study, and its documents
``__main__``   the process: orders come in, words go out, and it ends with whoever started it
``process``    a worker, as the server sees it
``limits``     how much memory and time a piece of work may take
``pool``       workers that wait for work, and those that have too much
=============  ==========================================================================

Nothing in here knows of networks or databases: a worker is handed the tests, and hands back files.
"""
