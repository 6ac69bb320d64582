"""The documents of `--output json` of `diff`, `explain`, `status` and `why`, as models."""
