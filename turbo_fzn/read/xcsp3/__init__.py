"""XCSP3 -> Model: the language of the XCSP3 competitions and of PyCSP3.

Source: Boussemart, Lecoutre, Audemard and Piette, the specification of XCSP3-core (arXiv 2009.00514).

`document.py` reads the XML and returns one entry after the other, `reader.py` passes each to its module:
`variables.py`, a family of constraints (`generic.py`, `comparison.py`, `counting.py`, `connection.py`, `packing.py`,
`graph.py`), `objectives.py`. The parameters of groups and slides are replaced by `arguments.py`. The text between tags
is read by `tokens.py` and `expressions.py`, and `emitter.py` writes the Model.
"""
