"""What held before the language and its engine were made smaller: inputs, and what became of them.

`store` keeps both, `outcomes` says what becomes of an input now, and `test_frozen` compares. `python -m tests.frozen.show`
prints all differences. The script that gathered the inputs ran once, and is in the history of Git; `make_states` makes the
states with real programs. Who changes the language rewrites inputs by a script (`store.rewrite`), and nobody rewrites
outcomes: a difference that is meant gets a row in `differences.EXPLAINED`.
"""
