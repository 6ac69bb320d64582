"""The state backends of Pulumi, with real servers: `make test-backends`."""
