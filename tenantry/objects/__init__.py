"""Builders: each makes the manifests of one concern from settings that were already merged and checked."""
