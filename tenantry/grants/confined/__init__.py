"""The second opinion on every plan of a fleet with team files: whether it is confined, whoever planned it.

Read them in this order: `escapes`, `checks`, `place`.
"""
