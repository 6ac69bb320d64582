"""`tenantry init`: asks, writes a project, and says what to type next."""
