"""Problems in words: findings, diagnostics, errors and their texts, with secrets redacted.

Called by: every other package.
Never: prints, logs, or imports another package of the core.
"""
