"""What the file comes to as facts, how the facts of two files or two environments differ, and which differences are dangerous.

A fact is a value of a subject on a cluster, with its path and its place in the file. `explain` prints facts; `diff` compares them.
Never: contacts a cluster. Only the dangers know keys and kinds by name.
"""
