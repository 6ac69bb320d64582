"""Edits of tenants.yaml by command: text in, text out, and every byte that the edit does not concern stays.

Called by: the commands `add`, `remove`, `rename`, `move`, `set`, `unset` and `fmt`.
Never: reads a cluster, or writes a file that is not valid afterwards.

    editor      a fleet's files while they are edited; `place` knows in which of them a path is declared
    document    one file: its text and its data; each edit is checked at once
    block       edits of mappings and lists without brackets, by lines; `flow`: of those with brackets
    transfer    edits of several entries at once
    tree        what is written where, down to the character
    style       how a file is written; `values` and `scalars` write new data alike
    references  what other parts of a file refer to, and so cannot be edited
"""
