"""Edits of tenants.yaml by command: text in, text out, and every byte that the edit does not concern stays.

Called by: the commands `add`, `remove`, `set` and `promote`.
Never: reads a cluster, or writes a file that is not valid afterwards.

    entries     what a name on the command line means; what an edit of a tenant, an app, a cluster and so on changes
    overriding  values for an environment or for clusters alone, and promotion
    editor      a fleet's files while they are edited: which file declares a path, edits of several entries; all written, or none
    document    one file: its text and its data; each edit is checked at once
    paths       paths as texts, and what the JSON Schema lets stand there
    splices     what is written where, and edits of mappings and lists as replacements in the text
    values      how a file is written, and new data alike
"""
