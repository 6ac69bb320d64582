"""What holds for every fleet.

Drawing and planning a fleet takes most of the time, so each drawn fleet is held against every promise: `promises` has one
function for each, named after what it says.
"""
