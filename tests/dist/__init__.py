"""The wheel and the sdist as others get them: installed into clean environments outside of the repository, and used there.

`make dist` runs it. The fast tests do not: it downloads packages.
"""
