"""Grants: what the main file gives to the included file of a tenant, and what this may therefore say.

Read them in this order: `model`, `frames`, `grants`, `limits`, `authors`, `rules`, `wall`. The policy pack judges apart from them.
"""
