"""Text to data: YAML with the place of every value, and the files that a fleet includes.

Called by: `load` and `compare.revision`; `fleet` keeps the source to turn paths into places.
Never: knows which keys exist.

    include      a fleet's file and the files it includes, as one
    parse        one file, by the next two
    compose      text to YAML nodes; `bounds` and `syntax` say what is refused
    construct    YAML nodes to plain data, by the rules of `core_schema`
    parsed_file  the data, and the place of every path in it
"""
