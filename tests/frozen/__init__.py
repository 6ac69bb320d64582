"""What held before the language and its engine were made smaller: inputs, and what became of them.

`store` keeps both, `outcomes` says what becomes of an input now, and `test_frozen` compares. `python -m tests.frozen.show`
prints all differences. `make` and `gather` have made the files. Who changes the language rewrites inputs by a script
(`store.rewrite`), and nobody rewrites outcomes: a difference that is meant gets a row in `differences.EXPLAINED`.
"""
