"""The documents of `--output json`, as models. Commands make and print them; the JSON Schemas and docs/output-reference.md follow.

Called by: each command imports the module of its own document; `tenantry schema --document`, docgen and tests take all from
`kinds`.
"""
