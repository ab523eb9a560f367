"""Once `site.legacy.prose.tell` was here."""
INSTALLED_APPS = ["site.legacy.apps.LegacyConfig"]
HOOK = "site.legacy.hooks:start"
REMARK = "site.legacy.prose.tell has gone"
