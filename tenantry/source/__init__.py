"""Text to data: YAML with the place of every value, and the files that a fleet includes.

Called by: `load` and `facts.revision`; `fleet` keeps the source to turn paths into places.
Never: knows which keys exist.

    include      a fleet's file and the files it includes, as one
    parse        one file, by the next one
    compose      text to YAML nodes, and those to plain data; `syntax` explains what is no YAML
    parsed_file  the data, and the place of every path in it
"""
