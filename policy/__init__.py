"""A policy pack for Pulumi: what has to hold for every object of a stack, also for those that somebody adds to the program.

It looks at what is about to be registered, and knows neither tenants.yaml nor the plan: a check that shared their code
would share their mistakes. Of the core it takes the limits of names, which are Kubernetes' own.
"""
