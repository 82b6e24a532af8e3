"""Where reports, spent codes and accounts are kept: SQLite by default, PostgreSQL by URL, with the same behaviour."""
