"""The two finite-state controllers, and the certificate."""
