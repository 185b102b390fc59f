"""The dashboard: pages, live stream and API over a bulletin; knows no rules and no pixels."""
