"""The second verifier of policy files: exact arithmetic, no numerical code shared with the first, for small files."""

from ncirl.exact.certificate import ExactCertificate, verify_exact

__all__ = ["ExactCertificate", "verify_exact"]
