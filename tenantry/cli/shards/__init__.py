"""`tenantry shards`: the stacks that share a large environment."""

from tenantry.cli.shards.command import command

__all__ = ["command"]
