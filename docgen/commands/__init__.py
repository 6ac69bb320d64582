"""The reference of the command line, docs/cli.md, from the help of the commands themselves."""
