"""A policy explained on one page: what is promised, what to block now, what blocking is worth, how play goes on."""

from __future__ import annotations

from ncirl.reports.overview import overview_page
from ncirl.reports.report import report_page

__all__ = ["overview_page", "report_page"]
