"""Serves the rules to Pulumi's engine, which runs this directory for `--policy-pack`."""

from tenantry.policy.engine import policies, serve

if __name__ == "__main__":
    serve(policies())
