"""The page and its JSON interface: look at a contest, solve it, play it, compare defences.

Needs the extra `web` (FastAPI and uvicorn); `ncirl.web.app.create_app` makes the application, `ncirl serve` runs it.
"""
