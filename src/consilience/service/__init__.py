"""What runs for long: the study server and the site agent.

=============  =====================================================================================
``settings``   a study's settings, and the one place where they become terms and arguments
``contract``   what a site's owner consents to, and its digest
``session``    what is said on a connection before and around a run; the signed challenge
``invitation`` the text that lets a site in, once
``store/``     the server's memory: SQLite behind small interfaces
``server/``    the FastAPI application: accounts, studies, the sites' sockets, runs
``agent/``     the site's side: its folder, its session, its connection
``config``     settings of the processes, from file and environment, in one table
``tls``        certificates for trials, contexts for both sides
``logs``       one line of JSON per event
``lock``       one process per folder
=============  =====================================================================================

Needs the extra ``consilience[service]``; the library below does not. Nothing in here prints.
"""
