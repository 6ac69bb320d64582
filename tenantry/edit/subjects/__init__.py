"""What edits mean: which entries a name stands for, where it stands elsewhere in the file, and what an edit does about that.

    names       the kinds of names, and every field of the model that holds or declares one; the one table that all edits share
    references  the places of a file where a name stands, found with that table; whether a name is declared
    adding, removing, renaming, moving   one module for each kind of edit
    pins, raising        the versions that a fleet pins, and newer ones: `update`
    promoted, promoting  what one environment has, written for another one: `promote`

Called by: the commands that edit.
Never: touches text; the engine beside this package does that.
"""
