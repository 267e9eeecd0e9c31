"""The pages: the study server's, on its own port, and the site's app on the data holder's machine. Nothing statistical is in here.

=============  ============================================================================
``security``   headers on every answer; who may ask (Host, Origin); tokens for forms
``rendering``  templates, and how numbers, sizes and times are written
``forms``      reading forms, and what is wrong in them
``uploads``    a file that comes with a form, into memory and never to disk
``live``       events for open pages
``pages``      one module a page: what it needs, what it shows, what its form does
=============  ============================================================================

Pages are made on the server and work without scripts; scripts add what is live. Every page may show names that strangers have chosen, so
every template escapes, and the policy in ``security`` lets a browser run nothing but our own files.
"""

__all__: list[str] = []
