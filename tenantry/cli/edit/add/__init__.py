"""`tenantry add`, a module for each kind of entry. The help lists the commands in the order of these imports."""

from tenantry.cli.edit.add.command import command

from tenantry.cli.edit.add import tenants, platform, settings  # isort: skip

__all__ = ["command", "platform", "settings", "tenants"]
