"""What edits mean: which entries a subject is, where its name stands elsewhere in the file, and what an edit does about that.

    names       every field of the model that holds the name of something; the one table that all edits share
    references  the places of a file where a name stands, found with that table
    subjects    tenants, apps, sources, clusters and so on: where their entries are, and how they are named on the command line
    edits       what an edit does to the file, as steps for the engine
    adding, removing, renaming, moving, selecting, overriding, granting   one module for each kind of edit

Called by: the commands `add`, `remove`, `rename` and `move`.
Never: touches text; the engine beside this package does that.
"""
