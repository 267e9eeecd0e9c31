"""What runs for long: the study server and the site agent.

================== =================================================================================
``settings``       a study's settings as they travel: checked, with its variables and data sets
``contract``       what a site's owner consents to, and its digest
``invitation``     the text that lets a site in, once
``chain``          a site's ledger as evidence: chained and signed lines
``reconcile``      what sites say they sent against what the server says it received
``tests_done``     all tests of a study are made: what its result says of that
``stored_test``    results rounded as they are published, and kept before use
``replicating``    replicates of a study, as its settings ask for
``result_files``   a study's result as files
``appending``      files that only grow, on disk before anything rests on them
``store/``         the server's memory: SQLite behind small interfaces
``server/``        the FastAPI application: accounts, studies, the sites' sockets, runs
``worker/``        processes that look for graphs and write reports
``agent/``         the site's side: its folder, its session, its connection
``browsers``       what logs in, by the names that people have for it
``doctor/``        what stands in the way of a site, with the sentence to send to whoever can change it
``config``         settings of the processes, from file and environment, in one table
``tls``            certificates for trials, contexts for both sides
``logs``           one line of JSON per event
``lock``           one process per folder
================== =================================================================================

Needs the extra ``consilience[service]``, but for ``doctor/``; the library below does not. Nothing in here prints.
"""
