"""The Pulumi program. A stack is one environment: its configuration says which, tenants.yaml says what it holds."""

from components.stack import run

run()
