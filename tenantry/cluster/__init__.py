"""Everything that contacts a live cluster: connecting, reading the inventory and the status, applying a bootstrap.

Called by: commands with a kubeconfig, preflight, and the Pulumi program for the guard.
Never: decides what a finding means for a run (`guard`, `preflight`), or changes anything except through `apply_bootstrap`.
"""
