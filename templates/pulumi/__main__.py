from tenantry.components.stack import run

run()
