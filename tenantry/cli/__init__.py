"""The command line: options in, data on stdout, messages on stderr, exit codes. Decisions are the core's."""
