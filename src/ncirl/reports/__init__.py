"""A policy explained on one page: what is promised, what to block now, what blocking is worth, how play goes on."""

from ncirl.reports.guarded_report import guarded_overview_page, guarded_report_page
from ncirl.reports.report import report_page
from ncirl.reports.sections import overview_page

__all__ = ["guarded_overview_page", "guarded_report_page", "overview_page", "report_page"]
