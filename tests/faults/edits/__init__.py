"""What people do to tenants.yaml: each edit changes the document it is given, and says what it did; "" if it could do nothing."""
