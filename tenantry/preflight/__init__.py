"""What would go wrong with the next `pulumi up`, or surprise, read from the clusters beforehand; nothing is changed.

A module per subject. Each yields problems with their remedies, from what was read (pure) or with a client that reads it.
"""
