"""What the version before yields: inputs, and what became of them. A new version is compatible when nothing differs.

`store` keeps both, `outcomes` says what becomes of an input now, and `test_frozen` compares. `states` are states of Pulumi's that
the real engine and provider made (`make_states`): where a resource of one has another name, URN or input, an upgrade would replace,
delete or change an object of a running fleet. `python -m tests.frozen.show` prints all differences. Who means one announces it in
CHANGELOG.md, and `python -m tests.frozen.show --accept PART` writes the outcomes of now.
"""
