"""The pages of `tenantry diff --output html` and `tenantry status --output html`: one HTML file that needs no network.

Called by: the two commands, with a review or with statuses.
Never: compares plans, reads a cluster, or decides what is a danger. Pages show what they are given.
"""
