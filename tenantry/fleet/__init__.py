"""The checked fleet: from parsed data to models, merged settings, filled placeholders, placement, and rules between parts.

Called by: `load`, which runs the steps in order, and `plan`, which asks for settings and placement.
Never: knows what objects look like, or depends on one environment's plan.
"""
