"""The paper's simulation study, done again with this package, and the page that puts the two side by side.

================================  =============================================================================
modules                           what they do
================================  =============================================================================
``tabled``                        a CI test from a table
``design``, ``sizes``             the study's graphs and runs; how many of them
``runs``, ``record_folder``       one run; results on disk
``variants``, ``experiment``      candidates of IOD's variants; the whole study
``summary``, ``tables``           from records to numbers and tables
``checks``, ``figures``           what must hold; drawings
``paper``, ``sentences``          the paper's numbers; sentences about ours and theirs
``page``, ``report``              the page that puts them side by side; all files
``real_life``                     a second study of the same form, on data in which nothing is linear
================================  =============================================================================
"""
