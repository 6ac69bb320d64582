"""What edits mean: which entries a name stands for, where it stands elsewhere in the file, and what an edit does about that.

    names       the kinds of names, and every field of the model that holds one
    references  the places of a file where a name stands, found with that table; whether a name is declared
    adding, removing, placing   new entries, removals, and first entries of lists
    promoting   the versions that one environment has, written for another one

Called by: the commands that edit.
Never: touches text; the engine beside this package does that.
"""
