"""The second verifier of policy files: independent of the first, in exact rational arithmetic, for small files."""

from ncirl.exact.certificate import ExactCertificate, verify_exact

__all__ = ["ExactCertificate", "verify_exact"]
